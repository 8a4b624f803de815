#!/usr/bin/env bash
# Checks a published model that no current exporter wrote: its output equals that of
# ONNX Runtime to 1e-4, and it trains as in PyTorch, to 1e-9 in f64.
#
# usage: third-party.sh WORKDIR MODEL INPUT BATCH [OPTION...]
#
# INPUT is the name of the model's input. OPTIONs are for the forward pass.

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

work=$1 model=$2 input=$3 batch=$4
shift 4
folder=$inputs/third-party
rm -rf "$work"
for data in above target; do
  mkdir -p "$work/$data"
  cp "$folder/$model.data/input.npy" "$work/$data/$input.npy"
  cp "$folder/$model.data/$data.npy" "$work/$data/labels.npy"
done
compile=(dtc "$folder/$model.onnx" --batch "$batch" --loss mse --optimizer sgd)
run "$work/forward.log" "${compile[@]}" "$@" -o "$work/forward"
run "$work/forward.log" "$work/forward" --data "$work/above" --steps 1 \
  --no-shuffle --lr 0 --metrics "$work/forward.jsonl"
dtc-compare losses "$work/forward.jsonl" "$folder/third-party.json" \
  "$model/forward" --tolerance 1e-4 --norm-tolerance 1e-4
run "$work/train.log" "${compile[@]}" --dtype f64 --lr 0.01 -o "$work/train"
run "$work/train.log" "$work/train" --data "$work/target" --steps 3 \
  --no-shuffle --metrics "$work/train.jsonl"
dtc-compare losses "$work/train.jsonl" "$folder/third-party.json" \
  "$model/train" --tolerance 1e-9
