#!/usr/bin/env bash
# usage: sanitizer-findings.sh clear|check FOLDER: removes the reports of sanitizers, or fails if there are any. Reports are files,
# because a test may expect a program to fail, and hide the output of a rank.
set -euo pipefail

case "$1" in
  clear) rm -rf "$2" && mkdir -p "$2" ;;
  check)
    count=$(find "$2" -type f | wc -l)
    [ "$count" -eq 0 ] && exit 0
    echo "error: found $count reports of sanitizers in $2, expected none; the first lines of each kind:"
    grep -rhE "^SUMMARY|runtime error" "$2" | sort | uniq -c | sort -rn | head -50
    exit 1 ;;
esac
