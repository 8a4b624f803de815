#!/usr/bin/env bash
# Compares losses, norms, gradients and weights of each plan with the first plan, in
# f64. Checks that files have the model's shapes.
#
# usage: agree.sh MODEL.onnx WORKDIR OPTIMIZER PLAN...      PLAN as in common.sh

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

model=$1 work=$2 optimizer=$3
shift 3
rm -rf "$work"
mkdir -p "$work"
inputs=$(cd "$(dirname "$model")" && pwd)
model=$(basename "$model" .onnx)
batch=8

first=$work/${1//[^a-z0-9]/-}
for plan in "$@"; do
  echo "== $model $plan"
  here=$work/${plan//[^a-z0-9]/-}
  mkdir "$here"
  compile "$model" "$plan" f64 "$optimizer" "$here/t" --init normal \
    --weight-decay 0.1 --clip-norm 0.5
  run "$here/log" "$here/t" --nproc "$(ranks_of "$plan")" --data synthetic \
    --steps 5 --lr 0.01 --check-replicas --metrics "$here/metrics.jsonl" \
    --dump-gradients "$here/gradients" \
    --save-weights "$here/weights.safetensors"
  [ "$plan" != "$1" ] || continue
  close "$(<"$here/metrics.jsonl")" "$(<"$first/metrics.jsonl")" 1e-10 10
  for step in 1 2; do
    dtc-compare tensors "$here/gradients/step-$step.safetensors" \
      "$first/gradients/step-$step.safetensors"
  done
  dtc-compare tensors "$here/weights.safetensors" \
    "$first/weights.safetensors" --tolerance 1e-8
  rm -r "$here"
done
