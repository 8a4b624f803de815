#!/usr/bin/env bash
# An MLP learns to classify handwritten digits from a table of 64 columns. Four ranks begin and shard parameters, gradients and
# optimizer state (ZeRO 3). SIGTERM stops them as a cluster's scheduler would. Two ranks continue from the checkpoint under
# another plan.
set -euo pipefail
. "$(dirname "$0")/../common.sh"
steps=${STEPS:-1000}
train=(--data "$inputs/mlp-digits.data" --steps "$steps" --lr 2e-3 --eval-every "$steps" --log-every $(((steps + 9) / 10))
  --checkpoint-dir checkpoints --checkpoint-every $(((steps + 19) / 20)))

rm -rf checkpoints
dtc-model mlp --layers 4 --width 256 --inputs 64 --classes 10 -o mlp.onnx
dtc mlp.onnx --batch 100 --init kaiming --dp 4 --zero 3 -o four-ranks
dtc mlp.onnx --batch 100 --init kaiming --dp 2 --zero 1 -o two-ranks

# --nproc starts mpirun, and forwards the signal to all ranks.
./four-ranks --nproc 4 "${train[@]}" &
program=$!
# Wait until there is a checkpoint, or the training has ended.
while kill -0 $program 2>/dev/null && ! compgen -G 'checkpoints/step-*/checkpoint.json' >/dev/null; do sleep 0.05; done
kill -TERM $program 2>/dev/null || true
wait $program

mpirun -n 2 ./two-ranks "${train[@]}" --resume --metrics resumed.jsonl --save-weights digits.safetensors
echo "checkpoints: $work/checkpoints, weights: $work/digits.safetensors"
