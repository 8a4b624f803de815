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
ctest --preset release -j "$(nproc)"
