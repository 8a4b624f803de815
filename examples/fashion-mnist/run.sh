#!/usr/bin/env bash
# Trains a small CNN on Fashion-MNIST with two ranks, from the data set to the
# accuracy on its test images: at least 90 % after four epochs.
#
# usage: run.sh [FOLDER]: FOLDER has the idx files, plain or .gz. Without it
# they are those of Debian's package dataset-fashion-mnist, which is installed
# if it is missing (as root).
#
# DTC_BIN is the folder of dtc and dtc-data, WORK where files are written.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
bin=${DTC_BIN:-$here/../../build/release/bin}
work=${WORK:-$here/../../build/fashion-mnist}

source=${1:-/usr/share/datasets/fashion-mnist}
if [ ! -d "$source" ]; then
  [ $# -eq 0 ] || { echo "run.sh: found no folder '$source'" >&2; exit 1; }
  apt-get install -y --no-install-recommends dataset-fashion-mnist
fi

mkdir -p "$work"
"$bin/dtc-data" mnist "$source" -o "$work/data" --force --input image
"$bin/dtc" "$here/cnn.onnx" --batch 100 --dp 2 --loss cross-entropy --optimizer adamw -o "$work/cnn.train"

# 600 steps are an epoch; 100 divides the 10 000 test images.
"$work/cnn.train" --nproc 2 --data "$work/data" --transform 'scale, flip, normalize(0.286,0.353)' \
  --steps "${STEPS:-2400}" --lr 5e-3 --lr-schedule one-cycle --eval-every "${STEPS:-600}" --log-every 100 \
  --metrics "$work/metrics.jsonl"
