#!/usr/bin/env bash
# Like CPU/trace.sh: checks that a trace has every task of the plan once per step and
# rank, in the order of the schedule, and the report's communication. Steps without a
# trace are launched as graphs.
#
# usage: [planned=PLAN] trace.sh MODEL WORKDIR PLAN...

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

check() {
  compile "$model" "$plan" f32 sgd "$here/t" --target cuda --arch host
  compile "$model" "${planned:-$plan}" f32 sgd "$here/planned" --target cuda \
    --arch host --stop-after=schedule \
    --report-json "$here/report.json" --timeline "$here/timeline.json"
  DTC_STANDIN_COUNTS=$here/counts train_on_standins "$plan" "$here/t" \
    --steps 5 --trace "$here/trace.json" --trace-steps 2-3 \
    --profile "$here/profile"
  grep -q '^kernel_' "$here/profile"
  # Options that read the device's results change none of them.
  train_on_standins "$plan" "$here/t" --steps 2 --metrics "$here/plain.jsonl"
  train_on_standins "$plan" "$here/t" --steps 2 --metrics "$here/found.jsonl" \
    --find-nonfinite
  losses() { sed -nE 's/.*"(loss": [^,]*, "grad_norm": [^,]*).*/\1/p' "$1"; }
  diff <(losses "$here/plain.jsonl") <(losses "$here/found.jsonl")
  dtc-check-trace "$here/trace.json" --first 2 --last 3 \
    --report "$here/report.json" --timeline "$here/timeline.json"
  ranks=$(ranks_of "$plan")
  [ "$(grep -c '^graph_launch 2$' "$here/counts")" -eq "$ranks" ]
}

for_plans check "$@"
