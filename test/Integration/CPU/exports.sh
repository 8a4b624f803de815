#!/usr/bin/env bash
# Files as PyTorch's exporters write them train as PyTorch does, under SGD and
# under AdamW, which moves a constant that is trained by mistake as fast as any
# weight: losses of five steps in f64 to 1e-9, norms to 1e-8 (constants in the
# files are f32), and the state dict, with its ties and buffers, to 1e-7. With
# `losses`, without the state dict, where the file has not all of it.
#
# usage: exports.sh WORKDIR MODEL EXPORTER [losses]

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

work=$1 model=$2 exporter=$3 only=${4:-}
reference=$inputs/exports/exports.json
rm -rf "$work"
mkdir -p "$work"
for optimizer in sgd adamw; do
  lr=0.1
  if [ $optimizer = adamw ]; then lr=0.01; fi
  run "$work/compile.log" dtc "$inputs/exports/$model-$exporter.onnx" \
    --batch 4 --dtype f64 --optimizer $optimizer \
    --lr $lr -o "$work/$optimizer"
  run "$work/$optimizer.log" "$work/$optimizer" \
    --data "$inputs/exports/$model.data" --steps 5 --no-shuffle \
    --metrics "$work/$optimizer.jsonl" \
    --save-weights "$work/$optimizer.safetensors"
  dtc-compare losses "$work/$optimizer.jsonl" "$reference" "$model/$optimizer" \
    --tolerance 1e-9 --norm-tolerance 1e-8
  [ "$only" = losses ] || dtc-compare reference "$work/$optimizer.safetensors" "$reference" \
    "$model/$optimizer/weights" --tolerance 1e-7
done
