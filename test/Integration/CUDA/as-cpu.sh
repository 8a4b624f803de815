#!/usr/bin/env bash
# Checks that a model trains under each plan on stand-ins as on one CPU: weights after
# two steps of SGD with clipping to 1e-5, in files of the model's shapes. Prints the
# reports' lines on padding.
#
# usage: [samples=N] as-cpu.sh MODEL.onnx WORKDIR OPTIONS...        OPTIONS are one plan's

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

onnx=$1 work=$2 batch=${samples:-4}
shift 2
steps=(--data synthetic --steps 2 --lr 0.1)
# program NAME OPTION...
program() {
  run "$work/compile.log" dtc "$onnx" --batch "$batch" --init normal --optimizer sgd \
    --clip-norm 1 -o "$work/$1" "${@:2}"
}
program cpu
"$work/cpu" "${steps[@]}" --save-weights "$work/cpu.safetensors" >"$work/cpu.log"
for plan in "$@"; do
  # shellcheck disable=SC2086
  program gpu --target cuda --arch host --report $plan
  grep padded "$work/compile.log" || true
  ranks=$(sed -nE 's/^mesh +//p' "$work/compile.log" | sed -E 's/[a-z]+ ([0-9]+)( x )?/*\1/g; s/^/1/')
  run "$work/gpu.log" env LD_LIBRARY_PATH="$standins" DTC_STANDIN_PATIENCE=20 \
    "$work/gpu" --nproc $((ranks)) "${steps[@]}" --save-weights "$work/gpu.safetensors"
  dtc-compare tensors "$work/gpu.safetensors" "$work/cpu.safetensors" --tolerance 1e-5
done
