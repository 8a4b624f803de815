#!/usr/bin/env bash
# usage: docs-are-complete.sh SOURCE_DIR: prints dead links, and passes that no page of the architecture explains.
set -euo pipefail
cd "$1"

links=0
while IFS=: read -r page link; do
  links=$((links + 1))
  [ -e "$(dirname "$page")/${link%%#*}" ] || echo "missing: $link, the target of a link in $page"
done < <(grep -HoE '\]\([^)#:]+(#[^)]*)?\)' ./*.md docs/*.md docs/*/*.md examples/*.md | sed -E 's/\]\((.*)\)$/\1/')
[ "$links" -gt 30 ] || echo "missing: found only $links links"

for pass in $(sed -nE 's/^def ([A-Za-z]+) *: *Pass<.*/\1/p' $(find include/dtc -name Passes.td)); do
  grep -qrw "$pass" docs/Architecture docs/Architecture.md || echo "missing: $pass in docs/Architecture"
done
