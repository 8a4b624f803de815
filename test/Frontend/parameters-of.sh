#!/usr/bin/env bash
# Prints the names and shapes of a model's parameters, one per line, sorted.
#
# usage: parameters-of.sh MODEL [OPTION...]

set -euo pipefail
export LC_ALL=C
dtc "$@" --emit=import 2>/dev/null |
  grep -o 'tensor<[^>]*> {[^}]*dtc.parameter = "[^"]*"' |
  sed -E 's/tensor<(([0-9]+x)*)f32> .*"(.*)"/\3 \1/; s/x$//' | sort
