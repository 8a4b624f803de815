#!/usr/bin/env bash
# Checks trainings through a server (--sync async:S): one worker trains as one rank does,
# in f64, whatever the plan of a worker; an order of arrival that is replayed gives the
# same bits, also after a break and with other engines; a signal ends all ranks.
#
# usage: server.sh WORKDIR

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

work=$1
rm -rf "$work"
mkdir -p "$work"

# one NAME MODEL PLAN OPTION...: trains six steps in f64 and saves the weights.
one() {
  local name=$1 plan=$3 file=$2
  shift 3
  # shellcheck disable=SC2046
  run "$work/compile.log" "${DTC:-dtc}" "$file" --batch 16 --init normal --dtype f64 \
    $(options_of "$plan") "$@" -o "$work/$name"
  run "$work/$name.log" "$work/$name" --nproc "$(ranks_of "$plan")" --threads 1 \
    --data synthetic --steps 6 --lr 0.01 --save-weights "$work/$name.safetensors"
}

same() {
  dtc-compare tensors "$work/$1.safetensors" "$work/$2.safetensors" --tolerance "$3"
}

# Dropout masks, clipping, moving averages and frozen parameters are those of one rank.
dtc-model gpt --layers 2 --width 16 --heads 4 --vocab 32 --context 8 --dropout 0.1 \
  -o "$work/gpt.onnx"
for more in "--optimizer adamw --clip-norm 0.5" \
  "--optimizer sgd --momentum 0.9 --ema 0.9 --freeze *wte*" "--optimizer lamb"; do
  set -f
  # shellcheck disable=SC2206
  options=($more)
  set +f
  one alone "$work/gpt.onnx" 1x1:gpipe:1 "${options[@]}"
  plans=(2x1:gpipe:1 2x2:1f1b:2 2x1x2:gpipe:1 2x1:gpipe:1:accumulate=2+microbatches=2)
  case $more in *lamb*) ;; *)
    plans+=(4x1:gpipe:1:hsdp=2+zero=1 4x1:gpipe:1:hsdp=2+zero=3 4x2:gpipe:1:hsdp=2+zero=2)
    ;;
  esac
  for plan in "${plans[@]}"; do
    one served "$work/gpt.onnx" "$plan" --sync async:2 "${options[@]}"
    same served alone 1e-10
  done
done

# The gradient of a layer that runs at each position is one product over all positions.
for plan in 1x1:gpipe:1 2x1:gpipe:1:sync=async:2; do
  one "${plan%%:*}" "$inputs/modules/recurrent.onnx" "$plan" --optimizer adamw --clip-norm 0.1
done
same 2x1 1x1 1e-10

# Running statistics of batch norms.
dtc-model resnet --layers 18 --width 8 --image 16 --classes 10 -o "$work/resnet.onnx"
one alone "$work/resnet.onnx" 1x1:gpipe:1 --optimizer sgd
one served "$work/resnet.onnx" 2x1:gpipe:1 --optimizer sgd --sync async:1
same served alone 1e-12

# Records an order, and replays it.
model=mlp-digits data=$inputs/compression.data batch=24
compile $model 4x1:gpipe:1:sync=async:3 f32 adamw "$work/t"
options=(--nproc 4 --threads 1 --data "$data" --checkpoint-every 5)
"$work/t" "${options[@]}" --steps 15 --checkpoint-dir "$work/whole" \
  --record-arrivals "$work/order" --save-weights "$work/whole.safetensors" >"$work/log"
"$work/t" "${options[@]}" --steps 10 --checkpoint-dir "$work/parts" \
  --replay-arrivals "$work/order" --record-arrivals "$work/parts.order" >"$work/log"
"$work/t" "${options[@]}" --steps 15 --checkpoint-dir "$work/parts" --resume \
  --replay-arrivals "$work/order" --record-arrivals "$work/parts.order" \
  --save-weights "$work/parts.safetensors" >"$work/log"
cmp "$work/whole.safetensors" "$work/parts.safetensors"
cmp "$work/order" "$work/parts.order"
echo "ok: a break changes no bit"

pids=()
for rank in 0 1 2 3; do
  RANK=$rank WORLD_SIZE=4 LOCAL_RANK=$rank LOCAL_WORLD_SIZE=4 MASTER_ADDR=127.0.0.1 \
    MASTER_PORT=29507 TORCHELASTIC_RUN_ID=$$ TORCHELASTIC_RESTART_COUNT=0 \
    "$work/t" --threads 1 --data "$data" --steps 15 --checkpoint-every 5 \
    --checkpoint-dir "$work/gloo" --replay-arrivals "$work/order" \
    --save-weights "$work/gloo.safetensors" >"$work/gloo.log.$rank" 2>&1 &
  pids+=($!)
done
for pid in "${pids[@]}"; do
  wait "$pid" || { cat "$work"/gloo.log.* && exit 1; }
done
cmp "$work/whole.safetensors" "$work/gloo.safetensors"
echo "ok: another engine changes no bit"

# A program of another plan goes on from the checkpoint, and one with a server from that.
compile $model 2x1:gpipe:1:zero=1 f32 adamw "$work/other"
"$work/other" --nproc 2 --threads 1 --data "$data" --steps 20 --resume \
  --checkpoint-dir "$work/whole" >"$work/log"
grep -q 'optimizer state has had 45 updates in 15 steps' "$work/log"
"$work/t" "${options[@]}" --steps 25 --resume --checkpoint-dir "$work/whole" >"$work/log"
grep -Eq '"updates": ?35' "$work"/whole/step-*25/checkpoint.json
echo "ok: other plans go on"

# Evaluations are of the server's parameters, and count each sample once.
options=(--nproc 4 --threads 1 --data "$data")
"$work/t" "${options[@]}" --steps 7 --eval-every 7 --eval-data "$data" \
  --metrics "$work/eval.jsonl" --save-weights "$work/eval.safetensors" >"$work/log"
"$work/other" --nproc 2 --threads 1 --evaluate --eval-data "$data" \
  --init-weights "$work/eval.safetensors" --metrics "$work/alone.jsonl" >"$work/log"
number() {
  grep -o '"eval_loss": *[0-9.e-]*' "$1" | sed 's/.*: *//'
}
echo "$(number "$work/eval.jsonl") $(number "$work/alone.jsonl")" |
  awk '{ d = $1 / $2 - 1; exit NF != 2 || d > 1e-6 || d < -1e-6 }'
echo "ok: evaluations"

# A signal ends all ranks after the step that has begun, with a checkpoint.
options=(--nproc 4 --threads 1 --data "$data")
"$work/t" "${options[@]}" --steps 100000000 \
  --checkpoint-dir "$work/stopped" >"$work/signal.log" 2>&1 &
pid=$!
until grep -qs "^step" "$work/signal.log"; do
  kill -0 $pid # the training goes on
  sleep 0.1
done
kill -TERM $pid
wait $pid || true
grep -q 'stopped by a signal after step' "$work/signal.log"
[ -n "$(ls "$work/stopped")" ]
echo "ok: a signal"
