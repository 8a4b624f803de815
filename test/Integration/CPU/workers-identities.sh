#!/usr/bin/env bash
# Checks identities of workers that train apart, in f64: the mean after each step is
# synchronous training, with the same dropout masks; ZeRO within workers, tp, pp and
# micro-batches change no number; mixing shrinks the distance from the mean by the second eigenvalue.
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
for plan in 4x1:gpipe:1:sync=every:1 4x1:gpipe:1:sync=every:1,outer=nesterov:1:0 \
  4x2:interleaved:2:sync=every:1+virtual-stages=2 4x2:gpipe:1:sync=every:1+cut=/fc3/Gemm; do
  weights apart "$plan" sgd --lr 0.1
  dtc-compare tensors "$work/apart.safetensors" "$work/together.safetensors" \
    --tolerance 1e-12
  rm "$work"/apart*
done

# Frozen parameters stay, moving averages are those of the mean's, and running statistics
# are averaged.
DTC="${DTC:-dtc} --freeze fc1.* --ema 0.9"
weights frozen 4x1:gpipe:1 sgd --lr 0.1 --save-ema "$work/ema.safetensors"
weights apart 4x1:gpipe:1:sync=every:1 sgd --lr 0.1 --save-ema "$work/ema-apart.safetensors"
dtc-compare tensors "$work/apart.safetensors" "$work/frozen.safetensors" --tolerance 1e-12
DTC=${DTC% --freeze*}

# Moving averages are no part of fragments.
weights without 4x1:gpipe:1:sync=every:4,fragments=2 sgd --lr 0.1
weights with 4x1:gpipe:1:sync=every:4,fragments=2+ema=0.9 sgd --lr 0.1
cmp "$work/with.safetensors" "$work/without.safetensors"

dtc-model gpt --layers 2 --width 16 --heads 4 --vocab 32 --context 8 --dropout 0.1 \
  -o "$work/gpt.onnx"
for plan in 4x1:gpipe:1 2x2:gpipe:1:recompute=all 2x1x2:gpipe:1 4x1:gpipe:1:hsdp=2+zero=3; do
  for sync in step every:1; do
    # shellcheck disable=SC2046
    run "$work/compile.log" "${DTC:-dtc}" "$work/gpt.onnx" --batch 16 --init normal \
      --dtype f64 --optimizer sgd $(options_of "$plan") --sync $sync -o "$work/gpt"
    run "$work/gpt.log" "$work/gpt" --nproc 4 --threads 1 --data synthetic --steps 4 \
      --lr 0.1 --no-shuffle --save-weights "$work/gpt-$sync.safetensors"
  done
  dtc-compare tensors "$work/gpt-every:1.safetensors" "$work/gpt-step.safetensors" \
    --tolerance 1e-12
done

for sync in every:4,outer=nesterov:0.7:0.9 gossip:ring; do
  weights alone 2x1:gpipe:1:sync=$sync adamw
  for plan in 4x1:gpipe:1:sync=$sync+zero=1+hsdp=2 4x1:gpipe:1:sync=$sync+zero=2+hsdp=2 \
    4x1:gpipe:1:sync=$sync+zero=3+hsdp=2 2x1x2:gpipe:1:sync=$sync 2x2:1f1b:4:sync=$sync \
    4x1:gpipe:2:sync=$sync+zero=2+hsdp=2+accumulate=2; do
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
