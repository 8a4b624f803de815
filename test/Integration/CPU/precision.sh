#!/usr/bin/env bash
# Checks fp32: losses of 20 SGD and 20 AdamW steps are within 1e-5 of PyTorch's under
# each plan. The distance of step 1's gradients from f64 is at most four times
# PyTorch's. With batch norm, which amplifies rounding, it compares 2 steps.
#
# usage: precision.sh MODEL WORKDIR PLAN...        PLAN as in common.sh

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

model=$1 work=$2
shift 2
reference=$inputs/$model.losses.json
steps=20
[[ $model != resnet-* ]] || steps=2
rm -rf "$work"
mkdir -p "$work"

compile "$model" 1x1:gpipe:1 f64 sgd "$work/f64"
train "$model" 1x1:gpipe:1 "$work/f64" --steps 1 --lr 0.1 --no-shuffle \
  --dump-gradients "$work/f64-gradients"

for plan in "$@"; do
  for optimizer in sgd adamw; do
    echo "== $model $plan $optimizer"
    here=$work/${plan//:/-}-$optimizer
    mkdir "$here"
    lr=0.1
    [ $optimizer = sgd ] || lr=1e-3
    compile "$model" "$plan" f32 $optimizer "$here/t"
    dump=(--dump-gradients "$here/gradients")
    [[ $plan != *zero=1* ]] || dump=() # ZeRO keeps no whole gradients
    train "$model" "$plan" "$here/t" --steps $steps --lr $lr --no-shuffle \
      "${dump[@]}" --metrics "$here/metrics.jsonl"
    dtc-compare losses "$here/metrics.jsonl" "$reference" $optimizer/f32 \
      --tolerance 1e-5
    [ ${#dump[@]} != 0 ] || continue
    dtc-compare precision "$here/gradients/step-1.safetensors" \
      "$work/f64-gradients/step-1.safetensors" "$reference" --factor 4
    rm -r "$here/gradients"
  done
done
