#!/usr/bin/env bash
# Checks that models whose output is the loss train as in PyTorch: losses and gradient
# norms of three SGD steps in f64 to 1e-9, on one rank and on two with two
# micro-batches.
#
# usage: losses.sh WORKDIR EXPORTER

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

work=$1 exporter=$2
folder=$inputs/losses
rm -rf "$work"
mkdir -p "$work"
for file in "$folder"/*-"$exporter".onnx; do
  name=$(basename "$file" "-$exporter.onnx")
  for plan in "--dp 1" "--dp 2 --microbatches 2"; do
    # shellcheck disable=SC2086
    run "$work/compile.log" dtc "$file" --batch 8 --loss output --dtype f64 \
      --optimizer sgd --lr 0.1 $plan -o "$work/program"
    run "$work/run.log" "$work/program" --nproc "${plan:5:1}" \
      --data "$folder/$name.data" --steps 3 --no-shuffle \
      --metrics "$work/$name.jsonl"
    dtc-compare losses "$work/$name.jsonl" "$folder/losses.json" "$name" \
      --tolerance 1e-9
    rm "$work/$name.jsonl"
  done
done
