#!/usr/bin/env bash
# Compares workers that train apart with a simulation of the papers' rules
# (make_workers.py), in f64: the first worker's losses and norms of 20 steps to 1e-10,
# the mean of mlp-digits' weights to 1e-9.
#
# usage: workers.sh WORKDIR CASE...

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

work=$1
shift
cases=("$@")
reference=$inputs/workers.json
rm -rf "$work"
mkdir -p "$work"

# check CASE MODEL PLAN SYNC
check() {
  local case=$1 model=$2 plan=$3 sync=$4 lr=0.05 data=
  [[ " ${cases[*]} " = *" $case "* ]] || return 0
  echo "== $case $plan"
  here=$work/$case-${plan//:/-}
  mkdir "$here"
  local options=(--optimizer sgd --momentum 0.9)
  if [ "$model" = gpt2-tiny ]; then
    options=(--optimizer adamw)
    lr=1e-3
  else
    data=$inputs/compression.data
  fi
  # shellcheck disable=SC2046
  run "$here/compile.log" "${DTC:-dtc}" "$inputs/$model.onnx" $(options_of "$plan") \
    --batch $batch --dtype f64 --sync "$sync" -o "$here/t" "${options[@]}"
  train "$model" "$plan" "$here/t" --steps 20 --no-shuffle --lr $lr \
    --metrics "$here/metrics.jsonl" --save-weights "$here/weights.safetensors"
  rm "$here/t"
  dtc-compare losses "$here/metrics.jsonl" "$reference" "$case" \
    --tolerance 1e-10 --norm-tolerance 1e-9
  if [ "$model" != gpt2-tiny ]; then
    dtc-compare reference "$here/weights.safetensors" "$reference" \
      "$case/weights" --tolerance 1e-9
  fi
}

dp=4x1:gpipe:1
digits() {
  check "$1" mlp-digits "${@:2}"
}
digits every $dp every:5
digits every 4x2:gpipe:1 every:5
digits every-nesterov $dp every:5,outer=nesterov:0.7:0.9
digits every-nesterov 4x2:1f1b:1 every:5,outer=nesterov:0.7:0.9
digits every-fragments $dp every:4,fragments=2
digits ring $dp gossip:ring
digits ring 4x2:gpipe:1 gossip:ring
digits torus $dp gossip:torus
digits exponential $dp gossip:exponential
digits one-peer $dp gossip:one-peer

check gpt2-every gpt2-tiny $dp every:5,outer=nesterov:0.7:0.9
check gpt2-every gpt2-tiny 4x1x2:gpipe:1 every:5,outer=nesterov:0.7:0.9
check gpt2-ring gpt2-tiny $dp gossip:ring
