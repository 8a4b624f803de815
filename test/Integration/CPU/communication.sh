#!/usr/bin/env bash
# Compares the messages and reductions of a plan's ranks with --report-json, call by
# call and byte by byte. The check must refuse a report of another plan.
#
# usage: [planned=PLAN] communication.sh MODEL WORKDIR PLAN...        PLAN as in common.sh

source "$(dirname "${BASH_SOURCE[0]}")/observe.sh"

check() {
  compile "$model" "$plan" f32 adamw "$here/t" \
    --report-json "$here/report.json"
  observe "$here/records.jsonl" "$plan" "$here/t" \
    --data "$inputs/$model.data" --steps 3 --collectives mpi
  dtc-check-observed communication "$here/records.jsonl" "$here/report.json"

  # Another plan: twice the micro-batches on the same ranks, or $planned.
  IFS=: read -r mesh schedule microbatches more <<<"$plan"
  other=${planned:-$mesh:$schedule:$((microbatches * 2))${more:+:$more}}
  compile "$model" "$other" f32 adamw "$here/other" --stop-after=schedule \
    --report-json "$here/other.json"
  if dtc-check-observed communication "$here/records.jsonl" \
    "$here/other.json" >"$here/other.log"; then
    echo "FAIL: the check accepts the report of $other for $plan"
    exit 1
  fi
  grep -q '^FAIL: rank [0-9]*, MPI_.* on dtc\.' "$here/other.log"
}

for_plans check "$@"
