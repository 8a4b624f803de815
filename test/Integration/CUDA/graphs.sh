#!/usr/bin/env bash
# Steps and evaluations by graphs, the default, and without. Then waits that are
# missing while a graph is captured, one at a time on rank 1: each is an error,
# or was none, for another event ordered the same.
#
# usage: graphs.sh WORKDIR

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

work=$1 model=mlp-digits plan=2x2:1f1b:4:zero=2
rm -rf "$work"
mkdir -p "$work"
compile $model $plan f32 adam "$work/t" --target cuda --arch host

# steps NAME OPTION...: four, with an evaluation of two batches after each second.
steps() {
  local name=$1
  shift
  DTC_STANDIN_COUNTS=$work/$name.counts train_on_standins $plan "$work/t" \
    --steps 4 --eval-every 2 --eval-batches 2 --eval-data "$inputs/$model.data" \
    --no-shuffle --metrics "$work/$name.metrics" \
    --save-weights "$work/$name.safetensors" "$@"
}
# values NAME: what of the metrics is not a time.
values() {
  grep -oE '"(loss|grad_norm|eval_[a-z]*|step)":[^,}]*' "$work/$1.metrics"
}
# is_same NAME: whether it trained as `off` did.
is_same() {
  diff <(values "$1") <(values off) >/dev/null &&
    cmp -s "$work/$1.safetensors" "$work/off.safetensors"
}
# launches NAME: of graphs, on each rank.
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
    echo "FAIL: wait $number of the capture is not found and changes the training"
    exit 1
  fi
done
echo "drop-captured-wait: found $found of $places"
[ "$found" -ge 8 ]
