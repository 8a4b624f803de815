#!/usr/bin/env bash
# The stand-ins plant bugs into a step, one at a time on rank 1, at each of the first
# PLACES of a kind. The stand-ins or the comparison of parity.sh must report an error
# for at least FEWEST of them. A change without an error must be harmless: another
# event or stream orders the same operations, and gradients and weights have the same
# bits.
#
# usage: planted-bugs.sh WORKDIR MODEL PLAN KIND=PLACES,FEWEST...

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

work=$1 model=$2 plan=$3
shift 3
rm -rf "$work"
mkdir -p "$work"
compile $model $plan f32 sgd "$work/t" --target cuda --arch host

# step NAME: runs one with large updates, so that weights show them.
step() {
  mkdir -p "$work/$1"
  train_on_standins $plan "$work/t" --steps 1 --lr 10 --no-shuffle \
    --dump-gradients "$work/$1" --save-weights "$work/$1/weights.safetensors" \
    >"$work/$1.output"
}
# differ FILE NAME: succeeds if parity.sh would report a difference.
differ() {
  ! dtc-compare tensors "$work/$2/$1" "$work/right/$1" --tolerance 1e-5 >/dev/null
}

step right
export DTC_STANDIN_PATIENCE=2

# plant KIND PLACES FEWEST
plant() {
  local kind=$1 places=$2 fewest=$3 found=0 name
  for number in $(seq "$places"); do
    export DTC_STANDIN_BUG=$kind:$number:1
    name=$kind-$number
    if ! step "$name" || differ step-1.safetensors "$name" ||
      differ weights.safetensors "$name"; then
      found=$((found + 1))
    elif ! cmp "$work/$name/step-1.safetensors" "$work/right/step-1.safetensors" ||
      ! cmp "$work/$name/weights.safetensors" "$work/right/weights.safetensors"; then
      echo "FAIL: $kind $number is not found, but changes the training"
      exit 1
    fi
    rm -rf "${work:?}/$name"
  done
  echo "$kind: found $found of $places"
  [ "$found" -ge "$fewest" ]
}

for bug in "$@"; do
  IFS='=,' read -r kind places fewest <<<"$bug"
  plant "$kind" "$places" "$fewest"
done
