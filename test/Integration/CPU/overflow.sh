#!/usr/bin/env bash
# A sample of step 3 overflows fp16. All ranks must skip that step without a change of
# weights, halve the scale, and continue. In bf16, which has the exponents of f32,
# nothing overflows.
#
# usage: overflow.sh WORKDIR PLAN...        PLAN as in common.sh

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

work=$1
shift
rm -rf "$work"
mkdir -p "$work"
data=$work/data
cp -r "$inputs/mlp-digits.data" "$data"
# Writes 1e30 into row 5 of the third batch of 32, after a header of 128 bytes.
printf '\xca\xf2\x49\x71' | dd of="$data/input.npy" bs=1 conv=notrunc \
  seek=$((128 + (2 * batch + 5) * 64 * 4)) status=none

for plan in "$@"; do
  echo "== $plan"
  here=$work/${plan//:/-}
  mkdir "$here"
  for precision in fp16 bf16; do
    compile mlp-digits "$plan" f32 adamw "$here/t" --precision $precision
    for steps in 2 3 6; do
      train mlp-digits "$plan" "$here/t" --steps $steps \
        --no-shuffle --check-replicas --metrics "$here/$precision-$steps.jsonl" \
        --save-weights "$here/$precision-$steps.safetensors"
    done
  done
  grep '"step"' "$here/fp16-6.jsonl" | cut -d, -f8,9 >"$here/found"
  cat >"$here/expected" <<END
 "loss_scale": 65536, "skipped": 0
 "loss_scale": 65536, "skipped": 0
 "loss_scale": 65536, "skipped": 1
 "loss_scale": 32768, "skipped": 0
 "loss_scale": 32768, "skipped": 0
 "loss_scale": 32768, "skipped": 0
END
  diff "$here/found" "$here/expected"
  cmp "$here/fp16-2.safetensors" "$here/fp16-3.safetensors"
  if cmp -s "$here/fp16-3.safetensors" "$here/fp16-6.safetensors"; then
    echo "ERROR: the program does not train after the overflow"
    exit 1
  fi
  dtc-compare mean "$here/fp16-6.jsonl" --first 4 --last 6 --below 3
  if cmp -s "$here/bf16-2.safetensors" "$here/bf16-3.safetensors"; then
    echo "ERROR: bf16 skips a step"
    exit 1
  fi
done
