#!/usr/bin/env bash
# Measures algorithms of libraries in the first step; later steps follow the file.
#
# usage: autotune.sh MODEL WORKDIR PLAN PRECISION BATCH

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

model=$1 work=$2 plan=$3 precision=$4 batch=$5
rm -rf "$work"
mkdir -p "$work"
compile "$model" "$plan" f32 adam "$work/t" --target cuda --arch host \
  --precision "$precision"

# steps NAME OPTION...
steps() {
  local name=$1
  shift
  train_on_standins "$plan" "$work/t" --steps 3 --no-shuffle \
    --save-weights "$work/$name.safetensors" "$@"
  cp "$work/t.log" "$work/$name.log"
}

steps off
steps measured --autotune "$work/ways.json"
grep -q "note: measured [0-9]* computations" "$work/measured.log"
cp "$work/ways.json" "$work/first.json"
steps known --autotune "$work/ways.json"
if grep "note: measured" "$work/known.log"; then exit 1; fi
cmp "$work/ways.json" "$work/first.json"
cmp "$work/off.safetensors" "$work/measured.safetensors"
cmp "$work/off.safetensors" "$work/known.safetensors"
cat "$work/ways.json"
