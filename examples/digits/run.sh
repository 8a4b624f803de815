#!/usr/bin/env bash
# A convolutional network learns handwritten digits by epochs. The program keeps the weights of the most accurate evaluation. A
# second run evaluates them and predicts a class for each validation sample. PyTorch can load the weights.
set -euo pipefail
. "$(dirname "$0")/../common.sh"
data=$inputs/convnet-digits.data

dtc "$inputs/convnet-digits.onnx" --batch 64 --dp 2 --optimizer adamw -o digits.train
./digits.train --nproc 2 --data "$data" --epochs "${EPOCHS:-12}" --lr 1e-2 --lr-schedule cosine --eval-every 2e --log-every 1e \
  --best-by accuracy --save-best best.safetensors --metrics metrics.jsonl

./digits.train --nproc 2 --evaluate --eval-data "$data/valid" --init-weights best.safetensors --predict predictions.npy
echo "weights: $work/best.safetensors, predictions: $work/predictions.npy"
