#!/usr/bin/env bash
# Checks that gpt2-tiny learns: the mean loss of steps 181 to 200 is below 2.8.
#
# usage: converge.sh WORKDIR PLAN [PRECISION]        PLAN as in common.sh

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

work=$1 plan=$2 precision=${3:-fp32}
rm -rf "$work"
mkdir -p "$work"
compile gpt2-tiny "$plan" f32 adamw "$work/t" --precision "$precision"
train gpt2-tiny "$plan" "$work/t" --steps 200 --lr 1e-3 \
  --metrics "$work/metrics.jsonl"
[ "$(grep -c '"step"' "$work/metrics.jsonl")" -eq 200 ]
dtc-compare mean "$work/metrics.jsonl" --first 1 --last 1 --below 5.65
dtc-compare mean "$work/metrics.jsonl" --first 181 --last 200 --below 2.8
