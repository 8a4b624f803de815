#!/usr/bin/env bash
# Checks that the peak of each rank, above the peak of a tiny model under the same
# plan, is within 10 % of the plan. The model is large enough for a meaningful check:
# GPT-2 of 23 million parameters, with AdamW's state 353 MiB.
#
# usage: memory-planned.sh WORKDIR PLAN...        PLAN as in common.sh

source "$(dirname "${BASH_SOURCE[0]}")/observe.sh"

work=$1
shift
rm -rf "$work"
mkdir -p "$work"

run "$work/tiny.log" dtc-model gpt --layers 1 --width 16 --heads 8 --vocab 64 \
  --context 8 -o "$work/tiny.onnx"
run "$work/gpt.log" dtc-model gpt --layers 6 --width 512 --heads 8 \
  --vocab 8192 --context 64 -o "$work/gpt.onnx"

for plan in "$@"; do
  for model in tiny gpt; do
    here=$work/$model-${plan//:/-}
    # shellcheck disable=SC2046
    run "$here.compile.log" dtc "$work/$model.onnx" $(options_of "$plan") \
      --batch 4 --optimizer adamw --init normal -o "$here" \
      --report-json "$here.json"
    # Processes that MPI starts get memory from MPI; shared memory counts for all.
    observe "$here.jsonl" "$plan" "$here" --data synthetic --steps 2 \
      --collectives mpi --overlap off
  done
  echo "== $plan"
  dtc-check-observed planned "$work/tiny-${plan//:/-}.jsonl" "$here.json" \
    "$here.jsonl"
done
