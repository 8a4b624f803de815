#!/usr/bin/env bash
# usage: wrong-phase.sh INPUTS DIRECTORY: runs every pass of dtc alone on the IR of every phase. A pass may refuse the IR, but
# must not crash. Prints each crash.
set -uo pipefail
inputs=$1
rm -rf "$2" && mkdir -p "$2" && cd "$2" || exit 1

dtc "$inputs/toy.onnx" --batch 32 --loss mse --dp 2 --pp 2 --microbatches 2 --stop-after=lower --dump-dir toy || exit 1
dtc-model gpt --layers 1 --width 16 --heads 2 --vocab 32 --context 8 -o gpt.onnx > /dev/null || exit 1
dtc gpt.onnx --batch 8 --init normal --tp 2 --sp --dp 2 --zero 3 --accumulate 2 --stop-after=lower --dump-dir gpt || exit 1

passes=$(dtc-opt --help | sed -nE 's/^ +(--dtc-[a-z0-9-]+).*/\1/p' | sort -u)
run() { # PASS FILE
  timeout 120 dtc-opt "$2" "$1" -o /dev/null > "$2$1.log" 2>&1
  local status=$?
  [ $status -le 1 ] || echo "crash: dtc-opt $2 $1 has exit code $status: $(grep -m1 -E 'Assertion|runtime error|ERROR' "$2$1.log")"
  [ $status -ne 1 ] || grep -q 'error: ' "$2$1.log" || echo "wrong: dtc-opt $2 $1 fails without an error message"
}
export -f run
for pass in $passes; do
  for file in */0*.mlir; do
    echo "$pass $file"
  done
done > runs
xargs -P 2 -L 1 bash -c 'run "$@"' run < runs
echo "$(wc -w <<< "$passes") passes, $(wc -l < runs) runs"
