#!/usr/bin/env bash
# Installs dependencies, builds, and runs all tests. --full adds the tests of every plan.
set -euo pipefail
cd "$(dirname "$0")/.."

case "${1:-}" in
  "") ;;
  --full) export DTC_FULL_TESTS=1 ;;
  *) echo "usage: tools/check.sh [--full]" >&2; exit 2 ;;
esac

tools/setup.sh
cmake --preset release >/dev/null
cmake --build --preset release
log=build/release/tests.log
status=0
ctest --preset release -j "$(nproc)" | tee "$log" || status=$?
echo "The ten slowest tests:"
sed -nE 's/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: ([^ ]+) .* ([0-9.]+) sec.*/\2 s  \1/p' "$log" | sort -rn | head -n 10
grep -E '^[0-9]+% tests passed' "$log"
exit "$status"
