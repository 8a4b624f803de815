#!/usr/bin/env bash
# Checks programs with --offload on stand-ins. Their losses equal those without
# --offload to the bit. They resume from checkpoints of programs without it. They take
# no more GPU memory than the report says, which is less than without it.
#
# usage: offload.sh WORKDIR

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

work=$1 model=gpt2-tiny batch=8
rm -rf "$work"
mkdir -p "$work"

# field NAME: prints a field of the report's first stage.
field() { grep -o "\"$1\":[0-9]*" "$work/report" | head -n 1 | cut -d: -f2; }

# losses FILE: prints losses of steps and evaluations. It omits norms, because norms of
# other buckets are sums in another order.
losses() { grep -o '"step": [0-9]*, "\(eval_\)\?loss": [^,}]*' "$1"; }

# check PLAN OFFLOAD COMMUNICATORS OPTION...            --zero=3alone: only with --offload
check() {
  local plan=$1 offload=$2 communicators=$3 here=$work/$1-$2 without bytes
  shift 3
  mkdir "$here"
  compile $model "$plan" f32 adamw "$here/without" --target cuda --arch host \
    --report-json "$work/report" "${@//--zero=3alone/--zero=0}"
  without=$(field peak)
  compile $model "$plan" f32 adamw "$here/t" --target cuda --arch host \
    --offload "$offload" --report-json "$work/report" "${@//alone/}"
  [ "$(field host)" -gt 0 ]
  [ "$(field peak)" -lt "$without" ]
  # Includes the scratch of kernels.
  bytes=$(grep -ao '"arena_bytes":[0-9]*' "$here/t" | cut -d: -f2 | sort -n | tail -n 1)
  bytes=$((bytes + $(field reserved) - (768 << 20) - communicators * (256 << 20)))

  train_on_standins "$plan" "$here/without" --steps 4 --metrics "$here/expected" \
    --eval-every 4 --eval-batches 1 --checkpoint-dir "$here/checkpoints" --checkpoint-every 2
  DTC_STANDIN_MEMORY=$bytes train_on_standins "$plan" "$here/t" --steps 4 \
    --check-replicas --find-nonfinite --eval-every 4 --eval-batches 1 \
    --metrics "$here/found"
  diff <(losses "$here/expected") <(losses "$here/found")
  rm -r "$here/checkpoints/step-00000004"
  train_on_standins "$plan" "$here/t" --steps 4 --metrics "$here/resumed" \
    --eval-every 4 --eval-batches 1 --checkpoint-dir "$here/checkpoints" --resume
  diff <(losses "$here/expected" | tail -n 3) <(losses "$here/resumed")
}

check 1x1:gpipe:1 state 0
# Flat parameters add the gradients of a tied table's two uses in another order.
check 1x1:gpipe:2 parameters 0 --zero=3alone --precision bf16 --untie
check 2x1:gpipe:2 state 2 --zero 1
check 2x1:gpipe:2 parameters 2 --zero 2 --poison-memory
check 2x2:1f1b:2 parameters 3 --zero 3

# A machine with too little memory.
if DTC_STANDIN_PINNED=100000 train_on_standins 1x1:gpipe:1 "$work/1x1:gpipe:1-state/t" --steps 1 >"$work/refused"; then
  echo "pinned more memory than the machine has"
  exit 1
fi
grep -q "the machine gives no .* of pinned memory, expected that much for each rank: .*; see what else uses its memory" "$work/refused"
