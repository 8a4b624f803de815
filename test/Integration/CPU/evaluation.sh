#!/usr/bin/env bash
# Compares evaluations with PyTorch, in f64: losses to 1e-9, accuracy exactly, under
# each plan. Training has the same bits with and without them. Memory is NaN where no
# value is live. Evaluates sets of 1, 5, 17 and 113 samples separately, to 1e-12, and
# compares the outputs of 17 with PyTorch.
#
# usage: evaluation.sh WORKDIR PLAN...        PLAN as in common.sh

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

work=$1
shift
plans=("$@")
rm -rf "$work"
mkdir -p "$work"

# Prints the metrics of the steps, without times.
steps_of() {
  grep '"loss"' "$1" | sed 's/, "seconds.*//'
}

# check CASE MODEL LOSS LR OPTION...
check() {
  local case=$1 model=$2 loss=$3 lr=$4 plan here
  shift 4
  for plan in "${plans[@]}"; do
    echo "== $case $plan"
    here=$work/$case-${plan//:/-}
    mkdir "$here"
    # shellcheck disable=SC2046
    run "$here/compile.log" dtc "$inputs/$model.onnx" $(options_of "$plan") \
      --batch $batch --dtype f64 --loss "$loss" --optimizer sgd \
      --lr "$lr" --poison-memory -o "$here/t" "$@"
    train "$model" "$plan" "$here/t" --steps 5 --no-shuffle \
      --metrics "$here/without.jsonl" \
      --save-weights "$here/without.safetensors"
    train "$model" "$plan" "$here/t" --steps 5 --no-shuffle \
      --metrics "$here/with.jsonl" --save-weights "$here/with.safetensors" \
      --eval-every 2
    rm "$here/t"
    dtc-compare evaluations "$here/with.jsonl" "$inputs/evaluation.json" \
      "$case" --tolerance 1e-9
    cmp "$here/with.safetensors" "$here/without.safetensors"
    diff <(steps_of "$here/with.jsonl") <(steps_of "$here/without.jsonl")
  done
}

# check_sizes PLAN...: evaluates numbers of samples that the batch does not divide.
check_sizes() {
  local plan here size
  local valid=$inputs/resnet-digits.data/valid
  for plan in "$@"; do
    echo "== sizes $plan"
    here=$work/sizes-${plan//:/-}
    mkdir "$here"
    # shellcheck disable=SC2046
    run "$here/compile.log" dtc "$inputs/resnet-digits.onnx" \
      $(options_of "$plan") --batch "$batch" --dtype f64 --poison-memory \
      --loss cross-entropy --batchnorm local -o "$here/t"
    # Each size has one shard more than the one before.
    mkdir "$here/data"
    for size in 1:0 5:1 17:2 113:3; do
      cp "$valid"/*-"${size#*:}.npy" "$here/data"
      data=$here/data train resnet-digits "$plan" "$here/t" --evaluate \
        --metrics "$here/${size%:*}.jsonl" --predict "$here/${size%:*}.npy"
      dtc-compare evaluations "$here/${size%:*}.jsonl" \
        "$inputs/evaluation.json" "sizes/${size%:*}" --tolerance 1e-12
    done
    rm "$here/t"
    dtc-compare predictions "$here/17.npy" "$inputs/evaluation.json" \
      sizes/outputs --tolerance 1e-12
  done
}

check_sizes 1x1:gpipe:4 2x2:1f1b:4:zero=1 1x1x2:gpipe:1 \
  1x2:interleaved:4:virtual-stages=2
batch=33
check_sizes 3x1:gpipe:1
batch=32
check mse toy mse 0.1
check bce toy bce 0.1
check digits mlp-digits cross-entropy 0.1
check digits-all mlp-digits cross-entropy 0.1 --ignore-index 3 \
  --label-smoothing 0.3 --class-weights 0.25,0.5,0.75,1,1.25,1.5,1.75,2,2.25,2.5
check gpt2-tiny gpt2-tiny cross-entropy 0.5
check convnet-digits convnet-digits cross-entropy 0.1

# Evaluations use running statistics. Steps update them from the whole batch or from
# each micro-batch.
plans=(1x1:gpipe:1 2x2:gpipe:1:zero=1)
check resnet-digits resnet-digits cross-entropy 0.1
plans=(1x1:gpipe:4 2x2:1f1b:4:zero=3 1x1x2:gpipe:4)
check resnet-digits-micro4 resnet-digits cross-entropy 0.1 --batchnorm micro
