#!/usr/bin/env bash
# Prints the needs of programs that the systems in docs/Installation.md may lack:
# versions of symbols, and a C++ library. The status is 0 if there are none.
#
# usage: portable.sh PROGRAM...

set -euo pipefail

# newest PREFIX: prints the highest version of this name in $needs.
newest() { grep -oE "$1_[0-9.]+" <<<"$needs" | sort -Vu | tail -n 1; }

# expect_at_most FOUND BOUND
expect_at_most() {
  if [ "$(printf '%s\n' "$1" "$2" | sort -V | tail -n 1)" != "$2" ]; then
    echo "$program needs $1, expected $2 or earlier:"
    grep "$1" <<<"$needs"
    status=1
  fi
}

status=0
for program in "$@"; do
  needs=$(objdump -T "$program" | grep -F '*UND*')
  if grep -E 'GLIBCXX|CXXABI' <<<"$needs" || readelf -d "$program" | grep -F 'libstdc++'; then
    echo "$program needs the C++ library, expected its own"
    status=1
  fi
  expect_at_most "$(newest GLIBC)" GLIBC_2.34
  expect_at_most "$(newest GCC)" GCC_4.2.0
done
exit $status
