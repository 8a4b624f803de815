#!/usr/bin/env bash
# Compares training with compressed gradients on four ranks with a simulation of the
# papers' rules (make_compression.py), in f64: losses and norms of 20 steps to 1e-10,
# weights to 1e-9.
#
# usage: compression.sh WORKDIR CASE...

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

work=$1
shift
cases=("$@")
reference=$inputs/compression.json
rm -rf "$work"
mkdir -p "$work"

# check CASE MODEL PLAN COMPRESSOR OPTION...
check() {
  local case=$1 model=$2 plan=$3 compressor=$4 lr=0.05 data=
  shift 4
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
    --batch $batch --dtype f64 --compress "$compressor" -o "$here/t" \
    "${options[@]}" "$@"
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
digits topk $dp topk:0.05
digits topk $dp:zero=1 topk:0.05
digits topk $dp:zero=3 topk:0.05
digits topk-off $dp topk:0.05 --error-feedback off
digits topk-ef21 $dp topk:0.05 --error-feedback ef21
digits topk-ef21 $dp:zero=2 topk:0.05 --error-feedback ef21
digits topk-dgc $dp topk:0.05 --error-feedback dgc:0.9 --momentum 0
digits topk-dgc $dp:zero=2 topk:0.05 --error-feedback dgc:0.9 --momentum 0
digits topk-clip $dp topk:0.05 --clip-norm 0.5
digits randk $dp randk:0.1
digits randk 4x2:1f1b:2 randk:0.1
digits randk-off $dp randk:0.1 --error-feedback off
digits sign $dp sign
digits sign-zero $dp:zero=1 sign
digits int8 $dp int8
digits int8 4x2:gpipe:1 int8
digits int8-off $dp int8 --error-feedback off
digits int8-ef21 $dp int8 --error-feedback ef21
digits int8-zero $dp:zero=1 int8
digits int8-zero $dp:zero=3 int8
digits int4 $dp int4
digits qsgd $dp qsgd:16
digits qsgd-off $dp qsgd:5 --error-feedback off
digits powersgd $dp powersgd:2
digits powersgd 4x2:1f1b:2:zero=1 powersgd:2

digits delayed $dp none --sync delayed:1
digits delayed $dp:zero=1 none --sync delayed:1
digits delayed 4x2:1f1b:1:zero=3 none --sync delayed:1
digits delayed $dp:zero=2+hsdp=2 none --sync delayed:1
digits delayed3 $dp none --sync delayed:3
digits delayed-topk $dp topk:0.05 --sync delayed:2

gpt2() {
  check "$1" gpt2-tiny "${@:2}"
}
gpt2 gpt2-delayed $dp none --sync delayed:1
gpt2 gpt2-delayed $dp:zero=1 none --sync delayed:1
gpt2 gpt2-topk $dp topk:0.01
gpt2 gpt2-int8 $dp int8
gpt2 gpt2-powersgd $dp powersgd:4
