#!/usr/bin/env bash
# usage: man-page.sh TOOL VERSION PAGE: writes the man page of a tool from its --help and from the --help of its subcommands.
# help2man makes a page from text in GNU's form. HELP2MAN may give its path.
set -euo pipefail
tool=$1 version=$2 page=$3
name=$(basename "$tool")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# LLVM's parser prints OVERVIEW, USAGE, OPTIONS and `--name=<N>   - text`. Indented lines before the usage are examples. Each
# becomes a paragraph; otherwise they would run together.
normalize() {
  sed -E \
    -e "s/^(OVERVIEW|SUBCOMMAND '.*'): //" -e 's/^USAGE:/Usage:/' -e '/^OPTIONS:$/d' -e '/^  Type "/d' \
    -e 's/^( +[-=a-z][^ ]*( <[^>]*>)?) +- +/\1  /' -e '1,/^Usage:/s/^(  .*)/\1\n/'
}
# The subcommands: lower-case words at the left of their section.
subcommands() {
  sed -nE '/^subcommands:/I,/^[^ ]/s/^  ([a-z][a-z0-9-]*) .*/\1/p' "$work/tool"
}

mkdir "$work/bin"
"$tool" --help >"$work/tool"
normalize <"$work/tool" >"$work/help"
for command in $(subcommands); do
  printf '\nOptions of %s:\n\n' "$command" >>"$work/help"
  "$tool" "$command" --help | normalize | sed -nE '/^ +(-h,)?--?help/d; /^ {2,}-/,/^$/p' >>"$work/help"
done
printf '#!/bin/sh\ncat %s\n' "$work/help" >"$work/bin/$name"
chmod +x "$work/bin/$name"

# The first line of the help, without the name and the full stop.
title=$(sed -E -e "s/^OVERVIEW: //; s/^$name: //; s/\.$//; 1q" "$work/tool")
mkdir -p "$(dirname "$page")"
"${HELP2MAN:-help2man}" --no-info --section 1 --name "$title" --version-string "$version" \
  --source "dtc $version" --output "$page" "$work/bin/$name"
