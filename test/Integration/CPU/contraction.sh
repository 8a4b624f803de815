#!/usr/bin/env bash
# Measures |x - C(x)|² / |x|² of each compressor on normal numbers, on numbers with a
# heavy tail and on a matrix of known singular values, and compares it with its formula.
# The model's gradient is x, on both ranks.
#
# usage: contraction.sh WORKDIR

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

work=$1
rm -rf "$work"
mkdir -p "$work"

# measure DATA COMPRESSOR: with ZeRO, codes of the sum do not add an error.
measure() {
  local here=$work/${2//:/-}-$1
  run "$work/compile.log" "${DTC:-dtc}" "$inputs/contraction.onnx" --dp 2 --batch 2 \
    --loss output --parameter w --optimizer sgd --zero 1 --compress "$2" \
    --error-feedback off -o "$work/t"
  run "$work/t.log" "$work/t" --nproc 2 --threads 1 --steps 32 --lr 0 \
    --data "$inputs/contraction-$1.data" --dump-gradients "$here"
  python3 "$(dirname "${BASH_SOURCE[0]}")/contraction.py" "$2" \
    "$inputs/contraction-$1.data/x.npy" "$here"
}

for data in normal heavy; do
  for compressor in topk:0.01 topk:0.1 randk:0.1 sign int8 int4 qsgd:4 qsgd:64; do
    measure $data $compressor
  done
done
measure rank3 powersgd:1
measure rank3 powersgd:2
measure rank3 powersgd:4
