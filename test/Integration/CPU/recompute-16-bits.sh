#!/usr/bin/env bash
# Checks that recomputation changes no bit of losses, norms and weights in 16 bits.
#
# usage: recompute-16-bits.sh WORKDIR
set -euo pipefail

rm -rf "$1"
mkdir -p "$1"
cd "$1"
dtc-model gpt --layers 3 --width 32 --heads 2 --context 16 --vocab 64 \
  --dropout 0.1 --weights normal -o gpt.onnx > log
for precision in bf16 fp16; do
  first=
  for policy in none selective all every:2; do
    here=$precision-${policy/:/-}
    dtc gpt.onnx --batch 8 --loss cross-entropy --precision $precision \
      --recompute "$policy" -o "$here"
    "./$here" --data synthetic --steps 3 --lr 1e-2 --metrics "$here.jsonl" \
      --save-weights "$here.safetensors" > log 2>&1
    grep -oE '"(loss|grad_norm)": *[^,}]+' "$here.jsonl" > "$here.numbers"
    first=${first:-$here}
    cmp "$first.numbers" "$here.numbers"
    cmp "$first.safetensors" "$here.safetensors"
  done
  [ "$(wc -l < "$first.numbers")" = 6 ]
done
echo ok
