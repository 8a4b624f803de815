#!/usr/bin/env bash
# Checks identities of workers that train apart, in f64: the mean after each step is
# synchronous training; ZeRO within workers, tp and pp change no number; mixing shrinks
# the distance from the mean by the second eigenvalue.
#
# usage: workers-identities.sh WORKDIR

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

work=$1 model=mlp-digits data=$inputs/compression.data
rm -rf "$work"
mkdir -p "$work"

# weights NAME PLAN OPTIMIZER OPTION...: trains six steps and saves the weights.
weights() {
  local name=$1 plan=$2 optimizer=$3
  shift 3
  compile $model "$plan" f64 "$optimizer" "$work/$name"
  train $model "$plan" "$work/$name" --steps 6 --no-shuffle \
    --save-weights "$work/$name.safetensors" "$@"
}

weights together 4x1:gpipe:1 sgd --lr 0.1
weights apart 4x1:gpipe:1:sync=every:1 sgd --lr 0.1
dtc-compare tensors "$work/apart.safetensors" "$work/together.safetensors" \
  --tolerance 1e-12

for sync in every:4,outer=nesterov:0.7:0.9 gossip:ring; do
  weights alone 2x1:gpipe:1:sync=$sync adamw
  for plan in 4x1:gpipe:1:sync=$sync+zero=1+hsdp=2 4x1:gpipe:1:sync=$sync+zero=2+hsdp=2 \
    4x1:gpipe:1:sync=$sync+zero=3+hsdp=2 2x1x2:gpipe:1:sync=$sync 2x2:1f1b:1:sync=$sync; do
    weights more "$plan" adamw --check-replicas
    dtc-compare tensors "$work/more.safetensors" "$work/alone.safetensors" \
      --tolerance 1e-12
    rm "$work"/more*
  done
done

# Workers train apart for three steps, and then only mix. All eigenvalues of a ring of
# four but the first are 1/3 or -1/3.
compile $model 4x1:gpipe:1:sync=every:1000 f64 sgd "$work/start"
train $model 4x1:gpipe:1 "$work/start" --steps 3 --lr 0.1 --checkpoint-dir "$work/steps"
compile $model 4x1:gpipe:1:sync=gossip:ring f64 sgd "$work/ring"
train $model 4x1:gpipe:1 "$work/ring" --steps 9 --lr 1e-30 --eval-every 1 \
  --eval-data "$data" --checkpoint-dir "$work/steps" --resume \
  --metrics "$work/ring.jsonl"
grep -o '"eval_worker_distance": *[^,}]*' "$work/ring.jsonl" | sed 's/.*: *//' |
  awk 'NR > 1 && ($1 * 3 / last < 1 - 1e-9 || $1 * 3 / last > 1 + 1e-9) { bad = 1 }
    { last = $1 } END { exit bad || NR != 6 }'
echo "ok: the distance from the mean shrinks to a third in each step"
