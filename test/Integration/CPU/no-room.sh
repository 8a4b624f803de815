#!/usr/bin/env bash
# Fills a disk of 2 MiB while a program trains. Its weights must still have room.
#
# usage: no-room.sh WORKDIR, which has the program `t`
set -euo pipefail

work=$1
mkdir -p "$work/disk"
if ! mount -t tmpfs -o size=2m tmpfs "$work/disk" 2>/dev/null; then
  echo "saved (left out, for a tmpfs cannot be mounted)"
  exit
fi
trap 'umount -l "$work/disk"' EXIT
"$work/t" --data synthetic --steps 100000000 --log-every 100000000 \
  --metrics "$work/metrics" --save-weights "$work/disk/w.safetensors" >"$work/log" 2>&1 &
program=$!
while [ ! -s "$work/metrics" ]; do sleep 0.05; done
head -c 4M /dev/zero >"$work/disk/filling" 2>/dev/null || true
kill -TERM $program
wait $program || cat "$work/log"
[ ! -s "$work/disk/w.safetensors" ] || echo saved
