#!/usr/bin/env bash
# Checks that files of PyTorch's exporters train like PyTorch, under SGD and AdamW.
# (AdamW moves a constant that dtc trains by mistake as fast as any weight.) Compares
# losses of five steps in f64 to 1e-9, norms to 1e-8 (constants in the files are f32),
# and the state dict, with its ties and buffers, to 1e-7. `losses` omits the state
# dict, for files that do not have all of it.
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
