#!/usr/bin/env bash
# Checks that all ranks end a training in which one worker meets an infinity that the
# first does not see, that the message is of its step, and that nothing is saved. The
# order of a server's training that ended so is replayed to the same end.
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

# expect_end OPTION...: trains, and expects the message.
expect_end() {
  if timeout 60 "$work/t" "${options[@]}" "$@" >"$work/log" 2>&1; then
    echo "FAIL: $sync trains on"
    exit 1
  fi
  grep -q 'error: step 4 has .*inf' "$work/log"
}

for case in 2:every:20 2:gossip:ring 3:async:2; do
  dp=${case%%:*} sync=${case#*:} whose=' of a replica'
  if [ "$sync" = async:2 ]; then
    whose= # the server's step is that of all
  fi
  run "$work/compile.log" "${DTC:-dtc}" "$inputs/contraction.onnx" --dp "$dp" --batch 2 \
    --loss output --parameter w --optimizer sgd --sync "$sync" -o "$work/t"
  options=(--nproc "$dp" --threads 1 --no-shuffle --data "$work/data")
  expect_end --steps 100000 --save-weights "$work/w.safetensors"
  if [ -e "$work/w.safetensors" ]; then
    echo "FAIL: $sync saves weights"
    exit 1
  fi
  "$work/t" "${options[@]}" --steps 6 --on-nonfinite warn >"$work/log" 2>&1
  grep -q "warning: step 4$whose has .*inf" "$work/log"
  if [ "$sync" = async:2 ]; then
    expect_end --steps 6 --record-arrivals "$work/order"
    expect_end --steps 6 --replay-arrivals "$work/order"
  fi
  echo "ok: $sync"
done
