#!/usr/bin/env bash
# Runs three steps of AdamW in f32 under each plan, with --check-replicas.
#
# usage: check-replicas.sh MODEL WORKDIR PLAN...        PLAN as in common.sh

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

model=$1 work=$2
shift 2
rm -rf "$work"
mkdir -p "$work"

for plan in "$@"; do
  here=$work/${plan//:/-}
  compile "$model" "$plan" f32 adamw "$here"
  train "$model" "$plan" "$here" --steps 3 --check-replicas
  echo "ok: $plan"
done
