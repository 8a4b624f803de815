#!/usr/bin/env bash
# Compares 20 AdamW losses of each plan in bf16 and fp16 with PyTorch's in fp32 (within
# 1e-2), and norms of the gradient (within a tenth). Replicated values must have equal
# bits, and no step may be skipped.
#
# usage: mixed-precision.sh MODEL WORKDIR PLAN...        PLAN as in common.sh

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

check_plan() {
  for precision in bf16 fp16; do
    compile "$model" "$plan" f32 adamw "$here/$precision" --precision $precision
    train "$model" "$plan" "$here/$precision" --steps 20 --lr 1e-3 \
      --no-shuffle --check-replicas --metrics "$here/$precision.jsonl"
    dtc-compare losses "$here/$precision.jsonl" "$inputs/$model.losses.json" \
      adamw/f32 --tolerance 1e-2 --norm-tolerance 0.1
    if grep -q '"skipped": 1' "$here/$precision.jsonl"; then
      echo "ERROR: $precision skips a step of $model under $plan"
      exit 1
    fi
  done
}

for_plans check_plan "$@"
