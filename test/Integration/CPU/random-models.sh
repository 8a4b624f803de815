#!/usr/bin/env bash
# Compares models that are drawn at random from common blocks, by both exporters of
# PyTorch: losses and gradient norms of three steps in f64 equal PyTorch's.
#
# usage: random-models.sh WORKDIR PLAN...        PLAN as in common.sh

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

work=$1
shift
rm -rf "$work"
mkdir -p "$work"
batch=8
for folder in "$inputs"/random/random-*/; do
  seed=${folder%/}
  seed=${seed##*-}
  for file in "$folder"*.onnx; do
    model=random/random-$seed/$(basename "$file" .onnx)
    for plan in "$@"; do
      echo "== $model $plan"
      program=$work/program
      compile "$model" "$plan" f64 sgd "$program" --lr 0.05
      run "$program.log" "$program" --nproc "$(ranks_of "$plan")" \
        --data "${folder}data" --steps 3 --no-shuffle \
        --metrics "$work/metrics.jsonl"
      dtc-compare losses "$work/metrics.jsonl" \
        "$inputs/random/random-models.json" "$seed" --tolerance 1e-9 \
        --norm-tolerance 1e-9
    done
  done
done
