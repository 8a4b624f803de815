#!/usr/bin/env bash
# Compares AdamW losses of GPU programs on stand-ins in bf16 and fp16 with PyTorch's in
# fp32 (within 1e-2), and norms of the gradient (within a tenth).
#
# usage: steps=N mixed-precision.sh MODEL WORKDIR PLAN...
#                                                         PLAN as in CPU/common.sh

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

check() {
  for precision in bf16 fp16; do
    compile "$model" "$plan" f32 adamw "$here/$precision" --target cuda \
      --arch host --precision $precision
    train_on_standins "$plan" "$here/$precision" --steps "$steps" --lr 1e-3 \
      --no-shuffle --check-replicas --metrics "$here/$precision.jsonl"
    dtc-compare losses "$here/$precision.jsonl" "$inputs/$model.losses.json" \
      adamw/f32 --tolerance 1e-2 --norm-tolerance 0.1
  done
}

for_plans check "$@"
