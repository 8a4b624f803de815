#!/usr/bin/env bash
# A vocabulary that is padded for GPUs, with and without tp, is trained as the
# model's own on a CPU, in files of the model's shapes.
#
# usage: padded.sh MODEL.onnx WORKDIR

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

onnx=$1 work=$2
steps=(--data synthetic --steps 2 --lr 0.1)
# program NAME OPTION...
program() {
  run "$work/compile.log" dtc "$onnx" --batch 4 --init normal --optimizer sgd --clip-norm 1 \
    -o "$work/$1" "${@:2}"
}
program cpu
"$work/cpu" "${steps[@]}" --save-weights "$work/cpu.safetensors" >"$work/cpu.log"
for tp in 1 2; do
  program gpu --target cuda --arch host --tp $tp --report
  grep padded "$work/compile.log"
  run "$work/gpu.log" env LD_LIBRARY_PATH="$standins" DTC_STANDIN_PATIENCE=20 \
    "$work/gpu" --nproc $tp "${steps[@]}" --save-weights "$work/gpu.safetensors"
  dtc-compare tensors "$work/gpu.safetensors" "$work/cpu.safetensors" --tolerance 1e-5
done
