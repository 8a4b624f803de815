#!/usr/bin/env bash
# usage: every-pass-has-a-test.sh SOURCE_DIR: prints passes without a test or a source.
set -euo pipefail
cd "$1"

count=0
for table in $(find include/dtc -name Passes.td); do
  library=$(dirname "${table#include/dtc/}")
  while IFS=' ' read -r pass flag; do
    count=$((count + 1))
    name=${flag#dtc-}
    ls test/"$library/$name".mlir >/dev/null 2>&1 || echo "missing: test/$library/$name.mlir"
    find lib/"$library" -name "$pass.cpp" | grep -q . || echo "missing: lib/$library/$pass.cpp"
  done < <(sed -nE 's/^def ([A-Za-z]+) *: *Pass<"([a-z0-9-]+)".*/\1 \2/p' "$table")
done
[ "$count" -gt 10 ] || echo "missing: found only $count passes"
