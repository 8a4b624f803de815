#!/usr/bin/env bash
# usage: initial-weights.sh DIRECTORY: gives dtc damaged or odd weights. Prints messages that are missing.
set -uo pipefail
rm -rf "$1" && mkdir -p "$1" && cd "$1" || exit 1
dtc-make-model tied-layers -o tied.onnx
dtc-make-model not-a-number -o nan.onnx

# FILE HEADER: writes a safetensors file with this header and the bytes of standard input.
write() {
  { printf "\\x$(printf %02x ${#2})\0\0\0\0\0\0\0%s" "$2"; cat; } > "$1"
}
# Prints the entry of a tensor of 16 f32 from byte BEGIN on.
entry() { # NAME BEGIN
  echo "\"$1\":{\"dtype\":\"F32\",\"shape\":[4,4],\"data_offsets\":[$2,$(($2 + 64))]}"
}
zeros() { head -c "$1" /dev/zero; }
nan() { printf '\0\0\300\177'; }

# Checks that dtc exits with STATUS and has EXPECTED in its last line, or prints nothing.
expect() { # STATUS EXPECTED ARGUMENTS...
  local status=$1 expected=$2
  shift 2
  timeout 60 dtc "$@" --loss mse -o x.train > log 2>&1
  [ $? = "$status" ] && grep -v "^wrote " log | tail -n 1 | grep -qE "$expected" ||
    echo "wrong: dtc $* says: $(head -c 300 log), expected $expected"
}

start="error: --init: 'w.safetensors'"
zeros 68 | write w.safetensors "{$(entry a.weight 0)}"
expect 1 "$start has 4 bytes after its last tensor; the file is damaged$" tied.onnx --batch 4 --init w.safetensors
zeros 72 | write w.safetensors "{$(entry a.weight 8)}"
expect 1 "$start has 8 bytes at offset 0 that belong to no tensor; the file is damaged$" tied.onnx --batch 4 --init w.safetensors
zeros 96 | write w.safetensors "{$(entry a.weight 0),$(entry other 32)}"
expect 1 "$start has tensors that overlap at byte 32; the file is damaged$" tied.onnx --batch 4 --init w.safetensors
zeros 64 | write w.safetensors "{$(entry a.weight 0),\"b\":1}"
expect 1 "$start is corrupt at tensor 'b': its entry is not a JSON object$" tied.onnx --batch 4 --init w.safetensors

# Tied tensors may be equal, and one of them may be missing.
tied=(tied.onnx --batch 4 --tie a.weight=b.weight --init w.safetensors)
none="note: tied 'b.weight' to 'a.weight', because they are equal; --untie keeps them separate$"
zeros 128 | write w.safetensors "{$(entry a.weight 0),$(entry b.weight 64)}"
expect 0 "$none" "${tied[@]}"
zeros 64 | write w.safetensors "{$(entry b.weight 0)}"
expect 0 "$none" "${tied[@]}"
{ zeros 64; printf '\1'; zeros 63; } | write w.safetensors "{$(entry a.weight 0),$(entry b.weight 64)}"
expect 0 "warning: --init: the file has other elements for b.weight than for what the model ties this to: the first of a tie counts; --untie keeps them apart$" \
  "${tied[@]}"

# NaN weights, in a file and in the model. Initialization by a rule has none.
{ nan; zeros 60; } | write w.safetensors "{$(entry a.weight 0)}"
expect 0 "warning: parameters start with NaN or infinite elements: a.weight; check the weights" \
  tied.onnx --batch 4 --init w.safetensors
expect 0 "warning: parameters start with NaN or infinite elements: a.weight; check the weights" nan.onnx --batch 4
timeout 60 dtc nan.onnx --batch 4 --loss mse --init normal -o x.train > log 2>&1
! grep -q "start with NaN" log || echo "wrong: --init normal warns of NaN"

# Messages shorten long names.
printf -v long 'n%.0s' $(seq 5000)
timeout 60 dtc "$long" --batch 4 > log 2>&1
[ "$(wc -l < log)" = 1 ] && [ "$(wc -c < log)" -lt 2200 ] && grep -qE "[(][0-9]+ more bytes[)]$" log ||
  echo "wrong: of a long name it says $(wc -c < log) bytes"
echo done
