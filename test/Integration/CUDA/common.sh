# Helpers of the tests of GPU programs: programs of --arch host run here, on stand-ins
# for NVIDIA's libraries. Sourced, not run.

# shellcheck source=../CPU/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../CPU/common.sh"

standins=$(dirname "$(command -v dtc-check-observed)")/../lib/standins

# Also removes files of ranks that end early.
DTC_STANDIN_FOLDER=$(mktemp -d /dev/shm/dtc-test-XXXXXX)
export DTC_STANDIN_FOLDER
trap 'rm -rf "$DTC_STANDIN_FOLDER"' EXIT

# train_on_standins PLAN PROGRAM OPTION...: trains like `train` on CPUs. A rank that
# waits longer than a few seconds waits for ever.
train_on_standins() {
  local plan=$1 program=$2 launcher=() ranks
  shift 2
  ranks=$(ranks_of "$plan")
  if [ "$ranks" -gt 1 ]; then
    launcher=(mpirun --oversubscribe --bind-to none -n "$ranks")
  fi
  run "$program.log" env LD_LIBRARY_PATH="$standins" \
    DTC_STANDIN_PATIENCE="${DTC_STANDIN_PATIENCE:-20}" "${launcher[@]}" "$program" \
    --data "$inputs/$model.data" "$@"
}
