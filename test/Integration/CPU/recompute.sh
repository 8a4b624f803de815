#!/usr/bin/env bash
# Checks that recomputation changes memory and work, but no bit of the result: weights
# after three steps are the same under every policy. Activations, the peak of the
# worst rank and its work are in the order of POLICIES, and the peak is the planned
# one.
#
# usage: recompute.sh MODEL WORKDIR PLAN POLICY...      PLAN as in common.sh
#
# POLICIES go from most memory to least. Policies after a comma are compared by
# weights alone: recompute.sh gpt2-tiny WORKDIR 1x1:gpipe:4 none all , every:2

source "$(dirname "${BASH_SOURCE[0]}")/observe.sh"

model=$1 work=$2 plan=$3
shift 3
rm -rf "$work"
mkdir -p "$work"

compile toy 1x1:gpipe:1 f32 adamw "$work/toy"
observe "$work/toy.jsonl" 1x1:gpipe:1 "$work/toy" --data "$inputs/toy.data" \
  --steps 1

runs=() ordered=1 first=
for policy in "$@"; do
  if [ "$policy" = , ]; then
    ordered=0
    continue
  fi
  here=$work/${policy//[^a-z0-9]/-}
  compile "$model" "$plan" f32 adamw "$here" --recompute "$policy" \
    --report-json "$here.json"
  observe "$here.jsonl" "$plan" "$here" --data "$inputs/$model.data" \
    --steps 3 --collectives mpi --save-weights "$here.safetensors"
  first=${first:-$here.safetensors}
  cmp "$first" "$here.safetensors"
  [ "$ordered" = 0 ] || runs+=("$here.json" "$here.jsonl")
done
dtc-check-observed recompute "$work/toy.jsonl" "${runs[@]}"
