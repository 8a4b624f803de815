#!/usr/bin/env bash
# Prints a stage function of elementwise ops. Each op needs the one before.
#
# usage: chain.sh OPS

set -euo pipefail

cat <<'EOF'
module {
module @stage0 attributes {dtc.stage = 0 : i64} {
func.func @forward(%v0: tensor<8xf32>) -> tensor<8xf32> {
EOF
for ((i = 0; i < $1; i += 2)); do
  echo "%v$((i + 1)) = dtc.neg %v$i : (tensor<8xf32>) -> tensor<8xf32>"
  echo "%v$((i + 2)) = dtc.tanh %v$((i + 1)) : (tensor<8xf32>) -> tensor<8xf32>"
done
echo "return %v$1 : tensor<8xf32>"
echo "}}}"
