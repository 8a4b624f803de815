#!/usr/bin/env bash
# Checks that GPU programs on stand-ins train like the CPU's under each plan: losses and
# gradients of two steps of SGD to $tolerance, which is 1e-5 if it is not set. The
# stand-ins execute streams in a random order that streams and events allow. They end
# the program if two accesses of one buffer have no order or if ranks disagree on a
# collective.
#
# usage: [tolerance=X] parity.sh MODEL WORKDIR PLAN...                PLAN as in CPU/common.sh

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

steps=(--steps 2 --lr 0.1 --no-shuffle)

check() {
  compile "$model" "$plan" f32 sgd "$here/gpu" --target cuda --arch host &
  compile "$model" "$plan" f32 sgd "$here/cpu"
  wait $! # waits for the other and takes its status
  train "$model" "$plan" "$here/cpu" "${steps[@]}" \
    --dump-gradients "$here/cpu.gradients"
  train_on_standins "$plan" "$here/gpu" "${steps[@]}" \
    --dump-gradients "$here/gpu.gradients"
  for step in 1 2; do
    dtc-compare tensors "$here/gpu.gradients/step-$step.safetensors" \
      "$here/cpu.gradients/step-$step.safetensors" --tolerance "${tolerance:-1e-5}"
  done
  rm -r "$here"
}

for_plans check "$@"
