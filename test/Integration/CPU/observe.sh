# Runs programs with libdtc-observer.so preloaded. Sourced, not run.

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# observe RECORDS PLAN PROGRAM OPTION...: trains; each rank appends its record.
# All ranks start under mpirun, so that a single rank has the same MPI state.
observe() {
  local records=$1 plan=$2 program=$3
  shift 3
  rm -f "$records"
  run "$program.log" mpirun --oversubscribe --bind-to none \
    -n "$(ranks_of "$plan")" -x LD_PRELOAD="$observer" \
    -x DTC_OBSERVE="$records" -x DTC_OBSERVE_PLANT="${planted:-0}" \
    ${ranks_per_machine:+-x "DTC_OBSERVE_RANKS_PER_MACHINE=$ranks_per_machine"} \
    "$program" "$@"
}
