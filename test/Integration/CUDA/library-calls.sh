#!/usr/bin/env bash
# Runs GPU programs in 16 bits on stand-ins. They have products with epilogues and with
# sums of their operands, attention with masks, and attention that reads a projection
# in place. Gradients must equal those of the CPU's kernels within the precision of 16
# bits. If the library does not sum, they must be equal up to the order of f32 sums.
# Measurements, which compute products several times, must not change them.
#
# usage: precision=bf16 library-calls.sh MODEL WORKDIR PLAN...     as in CPU/common.sh

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

steps=(--steps 1 --lr 0.1 --no-shuffle)

# check_gradients NAME OTHER TOLERANCE
check_gradients() {
  dtc-compare tensors "$here/$1/step-1.safetensors" \
    "$here/$2/step-1.safetensors" --tolerance "$3"
}

check() {
  compile "$model" "$plan" f32 sgd "$here/t.cpu" --precision "$precision"
  compile "$model" "$plan" f32 sgd "$here/t.gpu" --precision "$precision" \
    --target cuda --arch host
  train "$model" "$plan" "$here/t.cpu" "${steps[@]}" \
    --dump-gradients "$here/cpu"
  train_on_standins "$plan" "$here/t.gpu" "${steps[@]}" \
    --dump-gradients "$here/gpu"
  if grep 'note: cuBLASLt' "$here/t.gpu.log"; then exit 1; fi
  DTC_STANDIN_NO_SUMS=1 train_on_standins "$plan" "$here/t.gpu" "${steps[@]}" \
    --dump-gradients "$here/apart"
  [ "$(grep -c 'note: cuBLASLt has no algorithm that sums' "$here/t.gpu.log")" = \
    "$(ranks_of "$plan")" ]
  train_on_standins "$plan" "$here/t.gpu" "${steps[@]}" \
    --autotune "$here/ways.json" --dump-gradients "$here/tuned"
  check_gradients gpu cpu 1e-2
  check_gradients apart gpu 1e-5
  check_gradients tuned gpu 1e-12
  rm -r "$here"
}

for_plans check "$@"
