#!/usr/bin/env bash
# Folders of lib/Runtime include each other in one direction, without a circle.
# Of the compiler they include dtc/Support alone, besides the ABI.
#
# usage: runtime-layers.sh [FOLDER INCLUDED]: adds an include, as a fault.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../lib/Runtime"

foreign=$(grep -rnE '#include "dtc/' . | grep -vE '"dtc/(Support|Runtime)/' || true)
if [ -n "$foreign" ]; then
  echo "FAIL: the runtime includes the compiler: $foreign"
  exit 1
fi
# "Folder OtherFolder" for each include; files of the same folder have no "/".
includes=$(grep -roE '#include "[A-Z][^"]*/[^/"]+"' . |
  sed -E 's,^\./(.*)/[^/]*:#include "(.*)/[^/"]*",\1 \2,' | sort -u)
if ! circle=$(tsort <<<"$includes${1:+$'\n'$1 $2}" 2>&1 >/dev/null); then
  echo "FAIL: folders include each other in a circle:" ${circle//tsort: /}
  exit 1
fi
echo "ok: $(wc -l <<<"$includes") arrows between folders"
