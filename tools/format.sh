#!/usr/bin/env bash
# Formats all C++ sources. --check lists the sources that are not formatted.
set -euo pipefail
cd "$(dirname "$0")/.."

case "${1:-}" in
  "") action=-i ;;
  --check) action="--dry-run --Werror" ;;
  *) echo "usage: tools/format.sh [--check]" >&2; exit 2 ;;
esac

find include lib python-free-frontend test tools unittests bench \( -name '*.cpp' -o -name '*.h' \) -print0 |
  xargs -0 clang-format-22 $action
