#!/usr/bin/env bash
# Checks that one program of --dp auto trains on any number of replicas, each with 8
# samples, like programs for these numbers: losses and norms of three steps to 1e-12,
# weights to 1e-10, in f64. Replicated values have the same bits.
#
# usage: replicas.sh MODEL WORKDIR RANKS COUNT... -- OPTION...
#
# RANKS is the number of ranks of a replica, COUNT a number of replicas. If $model
# ends in .onnx, it is a file and its data is synthetic.

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

model=$1 work=$2 ranks=$3 counts=()
shift 3
while [ "$1" != -- ]; do
  counts+=("$1")
  shift
done
shift
rm -rf "$work"
mkdir -p "$work"
file=$inputs/$model.onnx data=$inputs/$model.data
if [[ $model == *.onnx ]]; then
  file=$model data=synthetic
fi

# make PROGRAM DP BATCH OPTION...
make() {
  run "$1.log" dtc "$file" --dp "$2" --batch "$3" --dtype f64 \
    --optimizer adamw --poison-memory -o "$1" "${@:4}"
}

# learn PROGRAM REPLICAS: leaves losses and weights beside it, PROGRAM.REPLICAS
learn() {
  run "$1.$2.log" mpirun --oversubscribe --bind-to none -n $(($2 * ranks)) \
    "$1" --data "$data" --steps 3 --lr 1e-3 --check-replicas \
    --metrics "$1.$2.jsonl" --save-weights "$1.$2.safetensors"
}

make "$work/auto" auto 8 "$@"
for count in "${counts[@]}"; do
  echo "== $count replicas"
  hsdp=1
  case " $* " in *" --hsdp 2 "*) hsdp=2 ;; esac
  make "$work/fixed" $((count * hsdp)) $((count * 8)) "$@"
  learn "$work/auto" "$count"
  learn "$work/fixed" "$count"
  close "$(<"$work/auto.$count.jsonl")" "$(<"$work/fixed.$count.jsonl")" 1e-12 6
  dtc-compare tensors "$work/auto.$count.safetensors" \
    "$work/fixed.$count.safetensors" --tolerance 1e-10
done
