#!/usr/bin/env bash
# Programs for GPUs, on stand-ins, are the training of the CPU's under each
# plan: losses and gradients of two steps of SGD to 1e-5. The stand-ins do what
# is on streams in a random order that streams and events allow, and end the
# program if nothing orders two accesses of one buffer or if ranks disagree on a
# collective.
#
# usage: parity.sh MODEL WORKDIR PLAN...                PLAN as in CPU/common.sh

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

steps=(--steps 2 --lr 0.1 --no-shuffle)

check() {
  compile "$model" "$plan" f32 sgd "$here/gpu" --target cuda --arch host &
  compile "$model" "$plan" f32 sgd "$here/cpu"
  wait $! # for the other, and whether it failed
  train "$model" "$plan" "$here/cpu" "${steps[@]}" \
    --dump-gradients "$here/cpu.gradients"
  train_on_standins "$plan" "$here/gpu" "${steps[@]}" \
    --dump-gradients "$here/gpu.gradients"
  for step in 1 2; do
    dtc-compare tensors "$here/gpu.gradients/step-$step.safetensors" \
      "$here/cpu.gradients/step-$step.safetensors" --tolerance 1e-5
  done
  rm -r "$here"
}

for_plans check "$@"
