#!/usr/bin/env bash
# Algorithms of products, measured in the first step and then as the file says.
#
# usage: autotune.sh WORKDIR

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

work=$1 model=mlp-digits plan=2x2:1f1b:4
rm -rf "$work"
mkdir -p "$work"
compile $model $plan f32 adam "$work/t" --target cuda --arch host

# steps NAME OPTION...
steps() {
  local name=$1
  shift
  train_on_standins $plan "$work/t" --steps 3 --no-shuffle \
    --save-weights "$work/$name.safetensors" "$@"
  cp "$work/t.log" "$work/$name.log"
}

steps off
steps measured --autotune "$work/ways.json"
grep -q "note: measured [0-9]* matrix products" "$work/measured.log"
cp "$work/ways.json" "$work/first.json"
steps known --autotune "$work/ways.json"
if grep "note: measured" "$work/known.log"; then exit 1; fi
cmp "$work/ways.json" "$work/first.json"
cmp "$work/off.safetensors" "$work/measured.safetensors"
cmp "$work/off.safetensors" "$work/known.safetensors"

grep -q '"stand-in, cuBLASLt 0": {' "$work/ways.json"
# Alignments of three operands, then the time, in words of 64 bits.
products=$(grep -c 'aligned' "$work/ways.json")
fastest=$(grep 'aligned' "$work/ways.json" | grep -cE '": "[0-9a-f]+,[0-9a-f]{1,8},')
echo "$fastest of $products"
[ "$products" -gt 6 ]
[ "$fastest" = "$products" ]
