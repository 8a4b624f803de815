#!/usr/bin/env bash
# As CPU/trace.sh: a trace has every task of the plan once per step and rank, in
# the order of the schedule, and the report's communication. Steps that are not
# traced are launched as graphs.
#
# usage: [planned=PLAN] trace.sh MODEL WORKDIR PLAN...

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

check() {
  compile "$model" "$plan" f32 sgd "$here/t" --target cuda --arch host
  compile "$model" "${planned:-$plan}" f32 sgd "$here/planned" --target cuda \
    --arch host --stop-after=schedule \
    --report-json "$here/report.json" --timeline "$here/timeline.json"
  DTC_STANDIN_COUNTS=$here/counts train_on_standins "$plan" "$here/t" \
    --steps 5 --trace "$here/trace.json" --trace-steps 2-3
  dtc-check-trace "$here/trace.json" --first 2 --last 3 \
    --report "$here/report.json" --timeline "$here/timeline.json"
  ranks=$(ranks_of "$plan")
  [ "$(grep -c '^graph_launch 2$' "$here/counts")" -eq "$ranks" ]
}

for_plans check "$@"
