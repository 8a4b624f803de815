#!/usr/bin/env bash
# Compares five steps of SGD in f64 under each plan with PyTorch and with the first
# plan (one rank): gradients of steps 1 and 2 and every norm to 1e-10, losses to 1e-9,
# weights to 1e-8. Replicated values must have the same bits after every step. With
# $skipped this is not checked, because the comparison must find the error. Memory is
# NaN where no value is live.
#
# usage: parity.sh MODEL[=REFERENCE] WORKDIR PLAN...        PLAN as in common.sh
# REFERENCE names PyTorch's results, if the model has results of several trainings.

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

model=${1%%=*} work=$2
stored=$inputs/${1##*=}
reference=$stored.losses.json
shift 2
rm -rf "$work"
mkdir -p "$work"

replicas=(--check-replicas)
if [ -n "${skipped:-}" ]; then
  replicas=()
fi
name_of() { tr ':/' '--' <<<"$1"; }
first=$work/$(name_of "$1")
for plan in "$@"; do
  echo "== $model $plan"
  here=$work/$(name_of "$plan")
  mkdir "$here"
  compile "$model" "$plan" f64 sgd "$here/t" --poison-memory
  train "$model" "$plan" "$here/t" --steps 5 --lr 0.1 --no-shuffle \
    "${replicas[@]}" --dump-gradients "$here/gradients" \
    --metrics "$here/metrics.jsonl" \
    --save-weights "$here/weights.safetensors"
  dtc-compare losses "$here/metrics.jsonl" "$reference" sgd/f64 \
    --tolerance 1e-9 --norm-tolerance 1e-10
  dtc-compare reference "$here/weights.safetensors" "$reference" weights \
    --stored "$stored.weights-f64.safetensors" --tolerance 1e-8
  for step in 1 2; do
    gradients=gradients/step-$step.safetensors
    dtc-compare reference "$here/$gradients" "$reference" gradients \
      --prefix step$step/ \
      --stored "$stored.gradients-f64.safetensors"
    if [ "$plan" != "$1" ]; then
      dtc-compare tensors "$here/$gradients" "$first/$gradients"
    fi
  done
  if [ "$plan" != "$1" ]; then
    dtc-compare tensors "$here/weights.safetensors" \
      "$first/weights.safetensors" --tolerance 1e-8
    rm -r "$here"
  fi
done
