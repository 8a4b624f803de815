#!/usr/bin/env bash
# Compares training with compressed and delayed gradients on four ranks with a simulation
# (make_compression.py).
#
# usage: compression.sh WORKDIR CASE...

source "$(dirname "${BASH_SOURCE[0]}")/simulation.sh"
reference=$inputs/compression.json

digits() {
  check "$1" mlp-digits "$2" --compress "${@:3}"
}
digits topk $dp topk:0.05
digits topk $dp:zero=1 topk:0.05
digits topk $dp:zero=3 topk:0.05
digits topk-off $dp topk:0.05 --error-feedback off
digits topk-ef21 $dp topk:0.05 --error-feedback ef21
digits topk-ef21 $dp:zero=2 topk:0.05 --error-feedback ef21
digits topk-dgc $dp topk:0.05 --error-feedback dgc:0.9 --momentum 0
digits topk-dgc $dp:zero=2 topk:0.05 --error-feedback dgc:0.9 --momentum 0
digits topk-clip $dp topk:0.05 --clip-norm 0.5
digits randk $dp randk:0.1
digits randk 4x2:1f1b:2 randk:0.1
digits randk-off $dp randk:0.1 --error-feedback off
digits sign $dp sign
digits sign-zero $dp:zero=1 sign
digits int8 $dp int8
digits int8 4x2:gpipe:1 int8
digits int8-off $dp int8 --error-feedback off
digits int8-ef21 $dp int8 --error-feedback ef21
digits int8-zero $dp:zero=1 int8
digits int8-zero $dp:zero=3 int8
digits int4 $dp int4
digits qsgd $dp qsgd:16
digits qsgd-off $dp qsgd:5 --error-feedback off
digits powersgd $dp powersgd:2
digits powersgd 4x2:1f1b:2:zero=1 powersgd:2

digits delayed $dp none --sync delayed:1
digits delayed $dp:zero=1 none --sync delayed:1
digits delayed 4x2:1f1b:1:zero=3 none --sync delayed:1
digits delayed $dp:zero=2+hsdp=2 none --sync delayed:1
digits delayed3 $dp none --sync delayed:3
digits delayed-topk $dp topk:0.05 --sync delayed:2

gpt2() {
  check "$1" gpt2-tiny "$2" --compress "${@:3}"
}
gpt2 gpt2-delayed $dp none --sync delayed:1
gpt2 gpt2-delayed $dp:zero=1 none --sync delayed:1
gpt2 gpt2-topk $dp topk:0.01
gpt2 gpt2-int8 $dp int8
gpt2 gpt2-powersgd $dp powersgd:4

expect_all
