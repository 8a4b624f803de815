#!/usr/bin/env bash
# usage: test/Fuzz/run.sh SECONDS [TARGET...]: builds the fuzzers (preset fuzz) and runs each for SECONDS, by default all of
# them. New inputs stay in build/fuzz/test/Fuzz/found. The script prints inputs that end a fuzzer, and figures.
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=${1:?usage: test/Fuzz/run.sh SECONDS [TARGET...]}
shift
[ $# -gt 0 ] || set -- $(cd test/Fuzz/Corpus && echo *)

cmake --preset fuzz > /dev/null
cmake --build --preset fuzz --target "${@/#/fuzz-}"
cd build/fuzz/test/Fuzz
status=0
for target; do
  mkdir -p "found/$target"
  ./fuzz-"$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=4096 -print_final_stats=1 \
    -artifact_prefix="$target-" "found/$target" "../../../../test/Fuzz/Corpus/$target" > "$target.log" 2>&1 || status=1
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$target.log")
  echo "$target: ${runs:-?} executions in $seconds s"
  grep -E "^(SUMMARY|artifact_prefix=|.*runtime error:)|Test unit written to" "$target.log" || true
done
exit $status
