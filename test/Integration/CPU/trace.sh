#!/usr/bin/env bash
# Checks that a trace has every task of the plan once per step and rank, in the order
# of the schedule, and the report's communication. Evaluations between the steps leave
# no events. $planned compares the trace with another plan.
#
# usage: [planned=PLAN] trace.sh MODEL WORKDIR PLAN...    PLAN as in common.sh

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

check() {
  compile "$model" "$plan" f32 sgd "$here/t"
  compile "$model" "${planned:-$plan}" f32 sgd "$here/planned" \
    --stop-after=schedule \
    --report-json "$here/report.json" --timeline "$here/timeline.json"
  train "$model" "$plan" "$here/t" --steps 5 --trace "$here/trace.json" \
    --trace-steps 2-3 --eval-every 1 --eval-batches 1 \
    --eval-data "$inputs/$model.data"
  dtc-check-trace "$here/trace.json" --first 2 --last 3 \
    --report "$here/report.json" --timeline "$here/timeline.json"
}

for_plans check "$@"
