#!/usr/bin/env bash
# Compares optimizers, their groups, losses, clipping and averages with PyTorch, in
# f64, on one rank and under a plan with every axis: losses of five steps to 1e-9,
# norms to 1e-10, weights and averages to 1e-8.
#
# usage: training-options.sh WORKDIR PLAN...        PLAN as in common.sh
#
# $only selects the cases of that name.

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

work=$1
shift
plans=("$@")
reference=$inputs/training-options.json
rm -rf "$work"
mkdir -p "$work"

# train_with CASE PLAN DTYPE MODEL LR OPTION...: leaves its files in $here. An LR of -
# is the optimizer's default.
train_with() {
  local case=$1 plan=$2 dtype=$3 model=$4 lr=$5
  shift 5
  echo "== $case $plan $dtype"
  here=$work/$case-${plan//:/-}-$dtype
  mkdir "$here"
  # shellcheck disable=SC2046,SC2086
  run "$here/compile.log" ${DTC:-dtc} "$inputs/$model.onnx" $(options_of "$plan") \
    --batch $batch --dtype "$dtype" -o "$here/t" "$@"
  local options=(--save-weights "$here/weights.safetensors")
  case " $* " in
    *" --ema "*) options+=(--save-ema "$here/averages.safetensors") ;;
  esac
  if [ "$lr" != - ]; then options+=(--lr "$lr"); fi
  train "$model" "$plan" "$here/t" --steps 5 --no-shuffle \
    --metrics "$here/metrics.jsonl" "${options[@]}"
  rm "$here/t"
}

# check CASE MODEL LR OPTION...
check() {
  local case=$1 plan
  [ "${only:-$case}" = "$case" ] || return 0
  for plan in "${plans[@]}"; do
    train_with "$case" "$plan" f64 "${@:2}"
    dtc-compare losses "$here/metrics.jsonl" "$reference" "$case" \
      --tolerance 1e-9 --norm-tolerance 1e-10
    dtc-compare reference "$here/weights.safetensors" "$reference" \
      "$case/weights" --tolerance 1e-8
    if [ -e "$here/averages.safetensors" ]; then
      dtc-compare reference "$here/averages.safetensors" "$reference" \
        "$case/averages" --tolerance 1e-8
    fi
  done
}

# check_loss CASE MODEL LR OPTION...
check_loss() {
  check "$@"
  [ "${only:-$1}" = "$1" ] || return 0
  train_with "$1" "${plans[-1]}" f32 "${@:2}"
  dtc-compare losses "$here/metrics.jsonl" "$reference" "$1" --tolerance 1e-5
}

toy() {
  local case=$1 lr=$2
  shift 2
  check "$case" toy "$lr" --loss mse "$@"
}

toy clip 0.1 --optimizer sgd --momentum 0.9 --clip-norm 0.25
toy clip-adamw-ema 0.01 --clip-norm 0.25 --ema 0.75
toy rmsprop - --optimizer rmsprop
toy rmsprop-momentum 0.005 --optimizer rmsprop --alpha 0.9 --epsilon 1e-3 \
  --weight-decay 0.1 --momentum 0.8
toy adagrad - --optimizer adagrad
toy adagrad-decay 0.05 --optimizer adagrad --weight-decay 0.1 --epsilon 1e-3
toy lion - --optimizer lion
toy lion-decay 0.01 --optimizer lion --beta1 0.8 --beta2 0.9 --weight-decay 0.1
toy lamb - --optimizer lamb
toy lamb-decay 0.05 --optimizer lamb --beta1 0.8 --beta2 0.9 --epsilon 1e-4 \
  --weight-decay 0.1
toy lars - --optimizer lars
toy lars-decay 20 --optimizer lars --momentum 0.8 --weight-decay 0.1 \
  --trust-coefficient 0.01 --epsilon 1e-4 --clip-norm 0.25
toy lars-groups 0.5 --optimizer lars --weight-decay 0.1 \
  --trust-coefficient 0.05 --no-decay norms-and-biases
toy lars-plain 20 --optimizer lars --momentum 0 --weight-decay 0.1

groups=(--no-decay norms-and-biases --lr-scale 'net2.*=0.5')
toy groups 0.01 --weight-decay 0.1 --clip-norm 0.25 "${groups[@]}"
toy groups-sgd 0.1 --optimizer sgd --momentum 0.9 --weight-decay 0.1 \
  "${groups[@]}"

digits() {
  local case=$1
  shift
  check_loss "$case" mlp-digits 0.1 --optimizer sgd "$@"
}

weights=0.25,0.5,0.75,1,1.25,1.5,1.75,2,2.25,2.5
digits ignore --ignore-index 3
digits smoothing --label-smoothing 0.1
digits class-weights --class-weights $weights
digits smoothing-all --class-weights "$inputs/class-weights.npy" \
  --label-smoothing 0.3 --ignore-index 3

check_loss bce toy 0.1 --loss bce --optimizer sgd
check_loss bce-sum toy 0.001 --loss bce --loss-reduction sum --optimizer sgd
