# Helpers of the integration drivers: the folders of inputs, and functions that
# compile and start programs. Sourced, not run.

set -euo pipefail

inputs=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../Inputs" && pwd)
batch=32
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMP_NUM_THREADS=1

# The folder beside the tools, for any build folder.
observer=$(dirname "$(command -v dtc-check-observed)")/../lib/libdtc-observer.so

# The loss of a model's training.
loss_of() {
  case $1 in
    toy) echo mse ;;
    *) echo cross-entropy ;;
  esac
}

# run LOG COMMAND...: shows the log only if the command fails.
run() {
  local log=$1
  shift
  if ! "$@" >"$log" 2>&1; then
    echo "ERROR: $*"
    tail -n 40 "$log"
    return 1
  fi
}

# close A B TOLERANCE COUNT: checks that COUNT losses and norms agree between the
# metrics of two runs.
close() {
  paste -d' ' <(grep -oE '"(loss|grad_norm)": *[^,}]+' <<<"$1" | sed 's/.*: *//') \
    <(grep -oE '"(loss|grad_norm)": *[^,}]+' <<<"$2" | sed 's/.*: *//') |
    awk -v tolerance="$3" -v count="$4" '
      { d = ($1 - $2) / $2
        if (!(d < tolerance && d > -tolerance)) { print "differ: " $0; bad = 1 } }
      END { exit bad || NR != count }'
}

# A plan is DPxPP[xTP]:SCHEDULE:MICROBATCHES[:OPTION[+OPTION...]], for example
# 4x2:1f1b:8 or 2x2x2:1f1b:4:sp.
ranks_of() {
  local mesh=${1%%:*}
  echo $((${mesh//x/*}))
}

# options_of PLAN: prints the options of the compiler.
options_of() {
  local mesh schedule microbatches more dp pp tp
  IFS=: read -r mesh schedule microbatches more <<<"$1"
  IFS=x read -r dp pp tp <<<"$mesh"
  echo "--dp $dp --pp $pp --tp ${tp:-1} --schedule $schedule" \
    "--microbatches $microbatches" ${more:+--${more//+/ --}}
}

# compile MODEL PLAN DTYPE OPTIMIZER PROGRAM [OPTION...]; DTC may be another
# compiler command.
compile() {
  local model=$1 plan=$2 dtype=$3 optimizer=$4 program=$5
  shift 5
  # shellcheck disable=SC2046,SC2086
  run "$program.compile.log" ${DTC:-dtc} "$inputs/$model.onnx" \
    $(options_of "$plan") --batch $batch --loss "$(loss_of "$model")" \
    --optimizer "$optimizer" --dtype "$dtype" -o "$program" "$@"
}

# train MODEL PLAN PROGRAM OPTION...: trains on $data or on the model's data. One
# rank starts without mpirun. $skipped omits reductions of MPI: see
# Shims/Communication.cpp. $collectives selects the engine. $ranks_per_machine
# simulates several machines: see Shims/Sharing.cpp.
train() {
  local model=$1 plan=$2 program=$3 launcher=() ranks
  shift 3
  ranks=$(ranks_of "$plan")
  if [ "$ranks" -gt 1 ]; then
    launcher=(mpirun --oversubscribe --bind-to none -n "$ranks")
    if [ -n "${skipped:-}" ]; then
      launcher+=(-x LD_PRELOAD="$observer" -x DTC_OBSERVE_SKIP="$skipped")
      collectives=mpi
    fi
    if [ -n "${ranks_per_machine:-}" ]; then
      launcher+=(-x LD_PRELOAD="$observer"
        -x DTC_OBSERVE_RANKS_PER_MACHINE="$ranks_per_machine")
    fi
  fi
  run "$program.log" "${launcher[@]}" "$program" \
    --data "${data:-$inputs/$model.data}" --collectives "${collectives:-auto}" "$@"
}

# for_plans BODY MODEL WORKDIR PLAN...: calls BODY for each plan, with $model, $plan
# and a new folder, $here.
for_plans() {
  local body=$1 work=$3
  model=$2
  shift 3
  rm -rf "$work"
  mkdir -p "$work"
  for plan in "$@"; do
    echo "== $model $plan"
    here=$work/${plan//:/-}
    mkdir "$here"
    "$body"
  done
}
