#!/usr/bin/env bash
# Runs three steps of one rank, whose only events are those of its inputs, under
# several orders that the streams allow. Then drops the waits one at a time. Each must
# be an error or change the training. Only waits of the first step are harmless.
#
# usage: inputs.sh WORKDIR

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

work=$1 model=mlp-digits plan=1x1:gpipe:2
rm -rf "$work"
mkdir -p "$work"
compile $model $plan f32 sgd "$work/t" --target cuda --arch host
compile $model $plan f32 sgd "$work/cpu"
steps=(--steps 3 --lr 1)

train $model $plan "$work/cpu" "${steps[@]}" --save-weights "$work/cpu.safetensors"
# step NAME
step() {
  train_on_standins $plan "$work/t" "${steps[@]}" --save-weights "$work/$1.safetensors"
}
# is_right NAME
is_right() {
  dtc-compare tensors "$work/$1.safetensors" "$work/cpu.safetensors" \
    --tolerance 1e-5 >/dev/null
}

for seed in $(seq 8); do
  DTC_STANDIN_SEED=$seed step "seed-$seed"
  is_right "seed-$seed"
done
# plant KIND PLACES HARMLESS
plant() {
  local kind=$1 name harmless=
  for number in $(seq "$2"); do
    name=$kind-$number
    if DTC_STANDIN_BUG=$kind:$number step "$name" >"$work/output" && is_right "$name"; then
      harmless+="$number "
    fi
  done
  echo "$kind: harmless: $harmless"
  [ "$harmless" = "$3" ]
}
plant drop-wait 6 "1 "
plant drop-host-wait 2 "1 "
