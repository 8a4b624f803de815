# Compares trainings of 20 steps in f64 with a simulation of the papers' rules that
# $reference has: losses and norms to 1e-10, weights of mlp-digits to 1e-9. Sourced with
# the arguments WORKDIR CASE... of the driver, which selects cases.

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

work=$1
shift
cases=("$@")
rm -rf "$work"
mkdir -p "$work"
dp=4x1:gpipe:1
ran=()

# check CASE MODEL PLAN OPTION... [-- OPTION...]: trains if the case is selected, with
# options of dtc and, after --, of the training.
check() {
  local case=$1 model=$2 plan=$3 lr=0.05 data= compiling=()
  shift 3
  while [ $# -gt 0 ] && [ "$1" != -- ]; do
    compiling+=("$1")
    shift
  done
  shift $(($# > 0))
  [[ " ${cases[*]} " = *" $case "* ]] || return 0
  ran+=("$case")
  echo "== $case $plan"
  here=$work/$case-${plan//:/-}
  mkdir "$here"
  local options=(--optimizer sgd --momentum 0.9)
  if [ "$model" = gpt2-tiny ]; then
    options=(--optimizer adamw)
    lr=1e-3
  else
    data=$inputs/compression.data
  fi
  # shellcheck disable=SC2046,SC2086
  run "$here/compile.log" ${DTC:-dtc} "$inputs/$model.onnx" $(options_of "$plan") \
    --batch $batch --dtype f64 -o "$here/t" "${options[@]}" "${compiling[@]}"
  train "$model" "$plan" "$here/t" --steps 20 --no-shuffle --lr $lr "$@" \
    --metrics "$here/metrics.jsonl" --save-weights "$here/weights.safetensors"
  rm "$here/t"
  dtc-compare losses "$here/metrics.jsonl" "$reference" "$case" \
    --tolerance 1e-10 --norm-tolerance 1e-9
  if [ "$model" != gpt2-tiny ]; then
    dtc-compare reference "$here/weights.safetensors" "$reference" \
      "$case/weights" --tolerance 1e-9
  fi
}

# expect_all: fails if a selected case does not exist.
expect_all() {
  local case
  for case in "${cases[@]}"; do
    [[ " ${ran[*]} " = *" $case "* ]] || { echo "FAIL: no case $case" && exit 1; }
  done
}
