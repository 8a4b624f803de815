#!/usr/bin/env bash
# Resumes a stopped training: under the same plan to the bit, under every other plan
# like a training without a stop. Compares weights, moving averages, optimizer state,
# data, dropout and loss scale with the undisturbed run.
#
# usage: [only=MODEL] checkpoints.sh WORKDIR PLAN...        PLAN as in common.sh

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

work=$1
shift
rm -rf "$work"
mkdir -p "$work"

numbers() { # prints those of the steps from $2 on
  sed 's/, "seconds.*//' "$1" | grep '"loss"' | awk -v from="$2" '
    match($0, /"step": [0-9]+/) { if (substr($0, RSTART + 8) + 0 >= from) print }'
}

# go_on PLAN FOLDER OPTION...: resumes from the first plan's checkpoint of step 3.
go_on() {
  local plan=$1 folder=$2
  shift 2
  rm -rf "$folder"
  mkdir -p "$folder"
  cp -r "$first/checkpoints/step-00000003" "$folder"
  rm -f "$here/resumed.jsonl"
  train "$model" "$plan" "$here/t" --steps 8 --seed 5 --lr 1e-2 \
    --lr-schedule cosine --checkpoint-dir "$folder" --resume \
    --metrics "$here/resumed.jsonl" --save-weights "$here/resumed.safetensors" "$@"
  grep -q "resumed after step 3" "$here/t.log"
}

# each MODEL DTYPE OPTIMIZER PLAN... [-- OPTION...]
each() {
  local dtype=$2 optimizer=$3 plans=() first=
  model=$1
  shift 3
  while [ $# -gt 0 ] && [ "$1" != -- ]; do
    plans+=("$1")
    shift
  done
  shift $(($# > 0))
  for plan in "${plans[@]}"; do
    echo "== $model $dtype $optimizer $plan $*"
    here=$work/${model//\//-}-$dtype-$optimizer-${plan//[^a-z0-9]/-}
    mkdir "$here"
    compile "$model" "$plan" "$dtype" "$optimizer" "$here/t" "$@"
    train "$model" "$plan" "$here/t" --steps 8 --seed 5 --lr 1e-2 \
      --lr-schedule cosine --checkpoint-dir "$here/checkpoints" \
      --checkpoint-every 3 --metrics "$here/whole.jsonl" \
      --save-weights "$here/whole.safetensors"
    ls "$here/checkpoints" | tr '\n' ' ' >"$here/names"
    [ "$(cat "$here/names")" = "step-00000003 step-00000006 step-00000008 " ]
    first=${first:-$here}
    go_on "$plan" "$here/resumed"
    if [ "$first" = "$here" ]; then # equal to the bit
      cmp "$here/resumed.safetensors" "$here/whole.safetensors"
      diff <(numbers "$here/resumed.jsonl" 4) <(numbers "$here/whole.jsonl" 4)
      go_on "$plan" "$here/asynchronous" --checkpoint-async --checkpoint-every 1
      cmp "$here/resumed.safetensors" "$here/whole.safetensors"
      cmp "$here/asynchronous/step-00000008/rank-00000.safetensors" \
        "$here/checkpoints/step-00000008/rank-00000.safetensors"
    fi
    if [ "$dtype" = f64 ]; then
      close "$(numbers "$here/resumed.jsonl" 4)" "$(numbers "$first/whole.jsonl" 4)" 1e-10 10
      dtc-compare tensors "$here/resumed.safetensors" \
        "$first/whole.safetensors" --tolerance 1e-8
    else
      close "$(numbers "$here/resumed.jsonl" 4)" "$(numbers "$first/whole.jsonl" 4)" 1e-5 10
    fi
    [ "$first" = "$here" ] || rm -r "$here"
  done
  rm -r "$first"
}

if [ -n "${only:-}" ]; then
  each "$only" f64 adamw "$@" -- --clip-norm 0.5
  exit
fi
each gpt2-tiny f64 adamw "$@" -- --ema 0.9 --clip-norm 0.5
each mlp-digits f64 sgd 1x1:gpipe:1 2x1:gpipe:2:zero=2 3x1:gpipe:1:zero=1 -- \
  --momentum 0.9 --batch 48
each resnet-digits f64 adamw 2x1:gpipe:1:zero=1 1x2:gpipe:1
each mlp-digits f32 adamw 2x1:gpipe:1 1x1:gpipe:1 -- --precision fp16
