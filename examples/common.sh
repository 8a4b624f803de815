# Common start of the examples: finds dtc in DTC_BIN, the build folder or PATH; makes a folder for the output, or uses WORK; allows
# more ranks than cores.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export PATH="${DTC_BIN:-$root/build/release/bin}:$PATH"
command -v dtc >/dev/null || { echo "found no dtc in build/release/bin or PATH; see docs/Installation.md" >&2; exit 1; }
inputs=$root/test/Inputs
work=${WORK:-$root/build/examples/$(basename "$(dirname "$(realpath "$0")")")}
mkdir -p "$work"
cd "$work"
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-1}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
