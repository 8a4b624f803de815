#!/usr/bin/env bash
# Checks that two runs of one program write the same losses and weights, byte for byte.
#
# usage: repeat.sh MODEL WORKDIR PLAN...        PLAN as in common.sh

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

check() {
  compile "$model" "$plan" f32 adamw "$here/t"
  for attempt in 1 2; do
    train "$model" "$plan" "$here/t" --steps 5 --lr 1e-3 --seed 7 \
      --metrics "$here/metrics-$attempt.jsonl" \
      --save-weights "$here/weights-$attempt.safetensors"
    # Compares everything except the times of steps.
    grep -oE '"(step|loss|grad_norm)": *[^,}]+' \
      "$here/metrics-$attempt.jsonl" >"$here/numbers-$attempt"
  done
  [ "$(wc -l <"$here/numbers-1")" -eq 15 ]
  cmp "$here/numbers-1" "$here/numbers-2"
  cmp "$here/weights-1.safetensors" "$here/weights-2.safetensors"
}

for_plans check "$@"
