#!/usr/bin/env bash
# Checks that all ranks end a training in which one worker meets an infinity that the
# first does not see, that the message is of its step, and that nothing is saved.
#
# usage: workers-not-finite.sh WORKDIR

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

work=$1
rm -rf "$work"
mkdir -p "$work/data"
# The gradient of contraction.onnx is its sample; the eighth, which the second of two
# workers takes in the fourth step, is infinite.
python3 - "$work/data/x.npy" <<'END'
import struct
import sys
header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (16, 64, 64), }"
header += b" " * (117 - len(header)) + b"\n"
values = [0.5] * (16 * 64 * 64)
values[7 * 64 * 64] = float("inf")
with open(sys.argv[1], "wb") as file:
    file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header)
    file.write(struct.pack(f"<{len(values)}f", *values))
END

for sync in every:20 gossip:ring; do
  run "$work/compile.log" "${DTC:-dtc}" "$inputs/contraction.onnx" --dp 2 --batch 2 \
    --loss output --parameter w --optimizer sgd --sync $sync -o "$work/t"
  options=(--nproc 2 --threads 1 --no-shuffle --data "$work/data")
  if timeout 60 "$work/t" "${options[@]}" --steps 100000 \
    --save-weights "$work/w.safetensors" >"$work/log" 2>&1; then
    echo "FAIL: $sync trains on"
    exit 1
  fi
  grep -q 'error: step 4 has .*inf' "$work/log"
  if [ -e "$work/w.safetensors" ]; then
    echo "FAIL: $sync saves weights"
    exit 1
  fi
  "$work/t" "${options[@]}" --steps 6 --on-nonfinite warn >"$work/log" 2>&1
  grep -q 'warning: step 4 of a replica has .*inf' "$work/log"
  echo "ok: $sync"
done
