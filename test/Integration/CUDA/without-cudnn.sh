#!/usr/bin/env bash
# Runs a step of a GPU program on stand-ins with a cuDNN file that is not a library.
#
# usage: without-cudnn.sh WORKDIR PROGRAM

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

rm -rf "$1"
mkdir -p "$1"
cp "$standins"/lib{cuda.so.1,cublasLt.so.13,nccl.so.2} "$1"
: >"$1/libcudnn.so.9"
LD_LIBRARY_PATH=$1 "$2" --steps 1 --data synthetic
