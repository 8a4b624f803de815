#!/usr/bin/env bash
# Compares steps and evaluations with graphs, the default, and without. Then drops
# waits during the capture of a graph, one at a time on rank 1. Each must be an error,
# unless another event orders the same operations.
#
# usage: graphs.sh WORKDIR

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

work=$1 model=mlp-digits plan=2x2:1f1b:4:zero=2
rm -rf "$work"
mkdir -p "$work"
compile $model $plan f32 adam "$work/t" --target cuda --arch host

# steps NAME OPTION...: runs four, with an evaluation of two batches after each second.
steps() {
  local name=$1
  shift
  DTC_STANDIN_COUNTS=$work/$name.counts train_on_standins $plan "$work/t" \
    --steps 4 --eval-every 2 --eval-batches 2 --eval-data "$inputs/$model.data" \
    --no-shuffle --metrics "$work/$name.metrics" \
    --save-weights "$work/$name.safetensors" "$@"
}
# values NAME: prints the metrics except times.
values() {
  grep -oE '"(loss|grad_norm|eval_[a-z]*|step)":[^,}]*' "$work/$1.metrics"
}
# is_same NAME: checks that it trained like `off`.
is_same() {
  diff <(values "$1") <(values off) >/dev/null &&
    cmp -s "$work/$1.safetensors" "$work/off.safetensors"
}
# launches NAME: prints the launches of graphs on each rank.
launches() { awk '$1 == "graph_launch" { print $2 }' "$work/$1.counts"; }

steps off --cuda-graph off
steps on
is_same on
[ "$(values on | wc -l)" -gt 10 ]
[ -z "$(launches off)" ]
# Steps 2 to 4, and the second to the fourth batch of evaluations.
[ "$(launches on | tr '\n' ' ')" = "6 6 6 6 " ]

export DTC_STANDIN_PATIENCE=2
places=$((12)) found=0
for number in $(seq $places); do
  name=bug-$number
  rm -f "$work/$name".*
  if ! DTC_STANDIN_BUG=drop-captured-wait:$number:1 steps $name >"$work/output"; then
    found=$((found + 1))
  elif ! is_same $name; then
    echo "FAIL: a dropped wait $number of the capture is not found, but changes the training"
    exit 1
  fi
done
echo "drop-captured-wait: found $found of $places"
[ "$found" -ge 8 ]
