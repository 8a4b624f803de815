#!/usr/bin/env bash
# A GPT-2 of four layers over bytes learns the text of Moby Dick: two stages on two ranks. Then a second program starts from the
# saved weights and fine-tunes them on two data-parallel ranks, with a frozen embedding.
set -euo pipefail
. "$(dirname "$0")/../common.sh"
steps=${STEPS:-200}

dtc "$inputs/gpt2-tiny.onnx" --batch 32 --pp 2 --microbatches 4 --clip-norm 1 -o pretrain
mpirun -n 2 ./pretrain --data "$inputs/gpt2-tiny.data" --steps "$steps" --lr 1e-3 --lr-schedule cosine --eval-every "$steps" \
  --log-every $(((steps + 9) / 10)) --metrics pretrain.jsonl --save-weights pretrained.safetensors

dtc "$inputs/gpt2-tiny.onnx" --batch 32 --dp 2 --init pretrained.safetensors --freeze '*.wte.weight' -o finetune
mpirun -n 2 ./finetune --data "$inputs/gpt2-tiny.data" --steps $(((steps + 9) / 10)) --lr 1e-4 --eval-every "$steps" \
  --log-every $(((steps + 9) / 10)) --metrics finetune.jsonl --save-weights finetuned.safetensors
echo "weights: $work/pretrained.safetensors, $work/finetuned.safetensors"
