#!/usr/bin/env bash
# Runs programs on stand-ins that refuse one epilogue, one engine or one size of
# workspace at a time. They must train as before, or end with a line that names the
# missing feature.
#
# usage: refusals.sh WORKDIR

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

work=$1
rm -rf "$work"
mkdir -p "$work"

# Runs three steps: the first makes calls one by one, the next captures them.
steps=(--steps 3 --lr 0.1 --no-shuffle --seed 1)

# prepare NAME MODEL [OPTION...]: compiles a program and records its training without
# refusals.
prepare() {
  model=$1
  echo "== $model"
  run "$work/t.compile.log" dtc "${@:2}" --batch 8 --optimizer sgd --init normal \
    --target cuda --arch host -o "$work/t"
  run_on_standin --metrics "$work/expected" --dump-gradients "$work/whole"
  if grep 'note: cuBLASLt' "$work/t.log"; then exit 1; fi
}

# run_on_standin OPTION...
run_on_standin() {
  run "$work/t.log" env LD_LIBRARY_PATH="$standins" "$work/t" --data synthetic \
    "${steps[@]}" "$@"
}

# trains TOLERANCE VARIABLE=VALUE...: checks that it trains as before on a stand-in with
# these variables.
trains() {
  local tolerance=$1
  shift
  echo "== $model $*"
  rm -rf "$work/metrics" "$work/gradients"
  (
    export "$@"
    run_on_standin --metrics "$work/metrics" --dump-gradients "$work/gradients"
  )
  dtc-compare tensors "$work/gradients/step-1.safetensors" \
    "$work/whole/step-1.safetensors" --tolerance "$tolerance"
  close "$(tail -n 3 "$work/metrics")" "$(tail -n 3 "$work/expected")" \
    "$tolerance" 6
}

# ends LINE VARIABLE=VALUE...
ends() {
  local line=$1
  shift
  echo "== $model $*"
  if env "$@" LD_LIBRARY_PATH="$standins" "$work/t" --data synthetic \
    "${steps[@]}" >"$work/t.log" 2>&1; then
    return 1
  fi
  [ "$(grep -c 'error:' "$work/t.log")" = 1 ]
  grep -q "$line" "$work/t.log" || { cat "$work/t.log"; return 1; }
}

# Numbers of epilogues in cublasLt.h, each by the op after the product.
note='note: cuBLASLt has no algorithm for a product of [0-9]* x [0-9]* x [0-9]* with an epilogue'
follows() {
  local name=$1 number=$2 variable
  for variable in DTC_STANDIN_NO_EPILOGUE DTC_STANDIN_NO_EPILOGUE_CALL; do
    trains 1e-2 $variable="$number"
    [ "$(grep -c "$note ($name); kernels follow such products$" "$work/t.log")" = 1 ]
    [ "$(grep -c 'note: cuBLASLt' "$work/t.log")" = 1 ]
  done
}

dtc-model gpt --layers 1 --width 64 --heads 2 --context 16 --vocab 64 -o "$work/gpt.onnx"
prepare gpt "$work/gpt.onnx" --precision bf16
follows '\(bias\|matrix\)' 4
follows 'gelu' 164
follows 'gradient of gelu' 192
trains 1e-5 DTC_STANDIN_NO_EPILOGUE=256
grep -q 'note: cuBLASLt has no algorithm that sums' "$work/t.log"
trains 1e-12 DTC_STANDIN_BLAS_WORKSPACE=33554432
ends 'error: cuBLASLt has no algorithm (.*) for a product of [0-9]* x [0-9]* x [0-9]*$' \
  DTC_STANDIN_BLAS_WORKSPACE=33554433
trains 1e-2 DTC_STANDIN_NO_ENGINE=01
trains 1e-2 DTC_STANDIN_NO_ENGINE=012
trains 1e-2 DTC_STANDIN_NO_ENGINE=0123
ends 'error: cuDNN has no deterministic engine for attention .* the last it refused: .*engine 4 has no plan' \
  DTC_STANDIN_NO_ENGINE=01234

# On sm_100 the library's heuristics choose engines whose gradients of attention have
# other bits in every run, without a note.
trains 1e-12 DTC_STANDIN_ARCH=100
trains 1e-12 DTC_STANDIN_ARCH=100 DTC_STANDIN_CUDNN=92300
ends 'error: found cuDNN 9.17, expected 9.18 or later, for gradients of attention on sm_100 .* --precision fp32' \
  DTC_STANDIN_ARCH=100 DTC_STANDIN_CUDNN=91700

prepare mlp "$inputs/mlp-digits.onnx" --precision bf16
follows 'relu' 6

prepare convnet "$inputs/convnet-digits.onnx"
trains 1e-5 DTC_STANDIN_NO_ENGINE=0123
trains 1e-12 DTC_STANDIN_DNN_WORKSPACE=0
trains 1e-12 DTC_STANDIN_DNN_WORKSPACE=1073741824
ends 'error: cuDNN has no deterministic engine for a convolution .* within 1.0 GiB' \
  DTC_STANDIN_DNN_WORKSPACE=1073741825
