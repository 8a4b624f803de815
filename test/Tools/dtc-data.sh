#!/usr/bin/env bash
# Helpers of the tests of dtc-data. Sourced, not run.
set -euo pipefail

# Prints the elements of a .npy file, in hexadecimal, without its header.
elements() {
  tail -c "+$((${2:-256} + 1))" "$1" | od -An -v -tx1 | tr -d ' \n'
  echo
}
# Prints the header's dictionary.
header() {
  head -c 256 "$1" | tail -c +11 | sed 's/ *$//'
}
# bytes FILE BYTE...: writes bytes, given in hexadecimal.
bytes() {
  local file=$1
  shift
  printf "$(printf '\\x%s' "$@")" >"$file"
}
