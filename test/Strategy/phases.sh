#!/usr/bin/env bash
# Runs each phase by dtc-opt on the file of the phase before, and compares the result
# with the output of dtc.
#
# usage: phases.sh WORKDIR MODEL OPTION...

set -euo pipefail
work=$1 model=$2
shift 2
rm -rf "$work"
dtc "$model" "$@" --stop-after=lower --dump-dir "$work"
previous=$work/01-import.mlir
for phase in strategy training parallel schedule lower; do
  expected=$(ls "$work"/0?-$phase.mlir)
  dtc-opt "$previous" --dtc-$phase-phase -o "$work/found.mlir"
  # dtc-opt ends its output with an empty line.
  diff -B "$work/found.mlir" "$expected" >"$work/diff" || {
    cut -c1-200 "$work/diff" | head -20
    exit 1
  }
  previous=$expected
done
