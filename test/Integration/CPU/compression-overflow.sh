#!/usr/bin/env bash
# Checks that a training whose gradient has one infinite element stops at the first
# step, and skips all steps where it was asked to, whatever a compressor sends.
#
# usage: compression-overflow.sh WORKDIR

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

work=$1
rm -rf "$work"
mkdir -p "$work/data"
# The gradient of contraction.onnx is its sample: one element is infinite.
python3 - "$inputs/contraction-normal.data/x.npy" "$work/data/x.npy" <<'END'
import struct
import sys
data = bytearray(open(sys.argv[1], "rb").read())
start = 10 + struct.unpack_from("<H", data, 8)[0]
struct.pack_into("<f", data, start + 4 * 1234, float("inf"))
open(sys.argv[2], "wb").write(data)
END

for compressor in none topk:0.01 randk:0.01 sign int8 int4 qsgd:4 powersgd:1; do
  for feedback in on ef21; do
    more=(--error-feedback $feedback)
    if [ $compressor = none ]; then more=(); fi
    run "$work/compile.log" "${DTC:-dtc}" "$inputs/contraction.onnx" --dp 2 --batch 2 \
      --loss output --parameter w --optimizer sgd --skip-nonfinite \
      --compress $compressor "${more[@]}" -o "$work/t"
    options=(--nproc 2 --threads 1 --steps 3 --data "$work/data")
    if "$work/t" "${options[@]}" >"$work/t.log" 2>&1; then
      echo "FAIL: $compressor $feedback trains on"
      exit 1
    fi
    grep -q 'step 1' "$work/t.log"
    "$work/t" "${options[@]}" --on-nonfinite skip >"$work/t.log" 2>&1
    grep -q 'skipped 3 of 3' "$work/t.log"
    echo "ok: $compressor $feedback"
  done
done
