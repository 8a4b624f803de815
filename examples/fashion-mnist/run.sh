#!/usr/bin/env bash
# Trains a small CNN on Fashion-MNIST with two ranks, from the data set to the
# accuracy on its test images: at least 90 % after four epochs.
#
# usage: run.sh [FOLDER]: FOLDER has the idx files, plain or .gz. Without FOLDER
# the script uses Debian's package dataset-fashion-mnist, and installs it if it is
# missing (as root).
set -euo pipefail
source=$(realpath -m "${1:-/usr/share/datasets/fashion-mnist}")
. "$(dirname "$0")/../common.sh"

if [ ! -d "$source" ]; then
  [ $# -eq 0 ] || { echo "run.sh: found no folder '$source'" >&2; exit 1; }
  apt-get install -y --no-install-recommends dataset-fashion-mnist
fi

dtc-data mnist "$source" -o data --force --input image
dtc "$root/examples/fashion-mnist/cnn.onnx" --batch 100 --dp 2 --loss cross-entropy --optimizer adamw -o cnn.train

# An epoch has 600 steps. The batch of 100 divides the 10 000 test images.
mpirun -n 2 ./cnn.train --data data --transform 'scale, flip, normalize(0.286,0.353)' \
  --steps "${STEPS:-2400}" --lr 5e-3 --lr-schedule one-cycle --eval-every "${STEPS:-600}" --log-every 100 \
  --metrics metrics.jsonl
