#!/usr/bin/env bash
# Checks that all ranks end a training in which one worker meets a NaN that others do
# not see, and that nothing is saved.
#
# usage: workers-not-finite.sh WORKDIR

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

work=$1
rm -rf "$work"
mkdir -p "$work/data"
# The gradient of contraction.onnx is its sample; that of the last worker is infinite.
python3 - "$inputs/contraction-normal.data/x.npy" "$work/data/x.npy" <<'END'
import struct
import sys
data = bytearray(open(sys.argv[1], "rb").read())
start = 10 + struct.unpack_from("<H", data, 8)[0]
struct.pack_into("<f", data, len(data) - 4, float("inf"))
open(sys.argv[2], "wb").write(data)
END

for sync in every:20 gossip:ring; do
  run "$work/compile.log" "${DTC:-dtc}" "$inputs/contraction.onnx" --dp 2 --batch 2 \
    --loss output --parameter w --optimizer sgd --sync $sync -o "$work/t"
  if timeout 60 "$work/t" --nproc 2 --threads 1 --steps 100000 --no-shuffle \
    --data "$work/data" --save-weights "$work/w.safetensors" >"$work/log" 2>&1; then
    echo "FAIL: $sync trains on"
    exit 1
  fi
  grep -q 'gradient norm inf\|has loss' "$work/log"
  if [ -e "$work/w.safetensors" ]; then
    echo "FAIL: $sync saves weights"
    exit 1
  fi
  echo "ok: $sync"
done
