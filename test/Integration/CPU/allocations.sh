#!/usr/bin/env bash
# Checks that steps 5 to 10 of a program allocate nothing, on any rank. `planted` puts
# two allocations into step 7, which the check must find.
#
# usage: [planted=7] [collectives=mpi] allocations.sh MODEL WORKDIR PLAN...   PLAN as in common.sh

source "$(dirname "${BASH_SOURCE[0]}")/observe.sh"
batch=8

check() {
  compile "$model" "$plan" f32 adamw "$here/t"
  observe "$here/records.jsonl" "$plan" "$here/t" \
    --data "$inputs/$model.data" --steps 10 \
    --trace "$here/trace.json" --trace-steps 6-8 \
    --collectives "${collectives:-auto}"
  dtc-check-observed allocations "$here/records.jsonl" --first 5 --last 10
}

for_plans check "$@"
