#!/usr/bin/env bash
# Installs and builds dtc, compiles a small GPT-2 for 4 x 2 ranks, and trains it
# on the text of Moby Dick: the loss falls from 5.55 to below 2.8.
set -euo pipefail
cd "$(dirname "$0")/.."

tools/setup.sh
cmake --preset release >/dev/null
cmake --build --preset release --target dtc

program=build/demo/gpt2-tiny.train
mkdir -p build/demo
build/release/bin/dtc test/Inputs/gpt2-tiny.onnx --dp 4 --pp 2 --batch 32 --microbatches 4 \
  --loss cross-entropy --optimizer adamw --report -o "$program"

# A demonstration may run more ranks than cores.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
mpirun --oversubscribe -n 8 "$program" --data test/Inputs/gpt2-tiny.data --steps "${STEPS:-200}" --lr 1e-3 \
  --eval-every 50 --metrics build/demo/metrics.jsonl --save-weights build/demo/gpt2-tiny.safetensors
echo "metrics: build/demo/metrics.jsonl, weights: build/demo/gpt2-tiny.safetensors"
