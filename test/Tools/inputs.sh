#!/usr/bin/env bash
# usage: inputs.sh INPUTS DIRECTORY: checks that no input file makes the compiler wait or crash. Prints violations.
set -uo pipefail
inputs=$1
rm -rf "$2" && mkdir -p "$2" && cd "$2" || exit 1
model=$inputs/mlp-digits.onnx

# Runs dtc, which must print EXPECTED in one line and fail.
refuse() { # EXPECTED ARGUMENTS...
  local expected=$1
  shift
  timeout 60 dtc "$@" 2>&1 | grep -v ": note: files of TorchScript" > log
  local status=${PIPESTATUS[0]}
  [ $status = 1 ] && [ "$(wc -l < log)" = 1 ] && grep -qE "$expected" log ||
    echo "wrong: dtc $* has exit code $status and says: $(head -c 300 log)"
}

mkfifo pipe
mkdir folder
for kind in "pipe:a pipe" "folder:a folder" "/dev/zero:a device"; do
  file=${kind%%:*}
  what="cannot be read: it is ${kind#*:}, expected a file$"
  for ending in safetensors json npy; do rm -f x.$ending; ln -s "$file" x.$ending; done
  refuse "error: $what" "$file" --batch 4
  refuse "error: --init: 'x.safetensors' $what" "$model" --batch 4 --init x.safetensors
  refuse "$what" "$model" --batch 4 --report --topology x.json
  refuse "$what" "$model" --batch 4 --report --profile x.json
  refuse "$what" "$model" --batch 4 --schedule x.json
  refuse "$what" "$model" --batch 4 --class-weights x.npy
done

# Data of a model must not be a pipe, nor a link out of its folder. A model and data that are both links to files of one folder,
# as in a cache, are valid.
mkdir model elsewhere
dtc-make-model external -o model/m.onnx
data=$(cd model && echo *.bin)
dtc model/m.onnx --batch 4 --stop-after=import || echo "wrong: a model with data is refused"
mv "model/$data" elsewhere
ln -s "../elsewhere/$data" "model/$data"
refuse "external data file 'model/$data' is a link to '.*/elsewhere/$data', expected a file in the folder of the model; copy it there$" \
  model/m.onnx --batch 4 --stop-after=import
mv model/m.onnx elsewhere
ln -s ../elsewhere/m.onnx model/m.onnx
dtc model/m.onnx --batch 4 --stop-after=import || echo "wrong: links to a cache are refused"
rm "model/$data"
mkfifo "model/$data"
refuse "external data file 'model/$data' cannot be read: it is a pipe, expected a file; put it beside the model$" \
  model/m.onnx --batch 4 --stop-after=import

# 100 000 brackets.
printf '[%.0s' $(seq 100000) > deep.json
{ printf '\240\206\001\0\0\0\0\0'; cat deep.json; } > deep.safetensors
deep="nests deeper than 64 arrays and objects"
refuse "error: --init: 'deep.safetensors' .*$deep" "$model" --batch 4 --init deep.safetensors
refuse "error: deep.json: is not JSON: $deep" "$model" --batch 4 --report --topology deep.json
refuse "error: deep.json is not JSON: $deep" "$model" --batch 4 --report --profile deep.json
dtc "$model" --batch 4 --weights external -o outside && cp deep.safetensors outside.safetensors
timeout 60 ./outside --data synthetic --steps 1 > log 2>&1
[ $? = 1 ] && grep -q "^outside: error: .*$deep" log || echo "wrong: a program says $(head -c 300 log)"
echo done
