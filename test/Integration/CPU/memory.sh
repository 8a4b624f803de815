#!/usr/bin/env bash
# Checks that stages divide memory and work: the peak of the worst rank, above an
# almost empty program, and the FLOPs of the worst stage fall with pp. The peak is the
# planned one.
#
# usage: memory.sh MODEL WORKDIR PLAN...        PLAN as in common.sh

source "$(dirname "${BASH_SOURCE[0]}")/observe.sh"

model=$1 work=$2
shift 2
rm -rf "$work"
mkdir -p "$work"

compile toy 1x1:gpipe:1 f32 adamw "$work/toy"
observe "$work/toy.jsonl" 1x1:gpipe:1 "$work/toy" --data "$inputs/toy.data" \
  --steps 1

runs=()
for plan in "$@"; do
  here=$work/${plan//:/-}
  compile "$model" "$plan" f32 adamw "$here" --report-json "$here.json"
  observe "$here.jsonl" "$plan" "$here" --data "$inputs/$model.data" --steps 1 \
    --collectives mpi
  runs+=("$here.json" "$here.jsonl")
done
dtc-check-observed memory "$work/toy.jsonl" "${runs[@]}"
