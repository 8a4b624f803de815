#!/usr/bin/env bash
# Packs the files that run.sh needs on a machine with a GPU: only compiled programs
# and scripts. Run it on a machine with a build of dtc.
#
# usage: prepare.sh [ARCHIVE [OPTION of prepare.py...]]
#
# $PYTHON is a Python with PyTorch, transformers and the requirements of
# tools/export.py.

set -euo pipefail

archive=$(realpath -m "${1:-dtc-gpu-bench.tar.xz}")
shift || true
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"${PYTHON:-python3}" "$here/prepare.py" "$work/bundle" "$@"
cp "$here/run.sh" "$here/check.py" "$here/models.py" "$work/bundle"
tar -C "$work" -cf - bundle | xz -T0 -6 >"$archive"

bytes=$(stat -c %s "$archive")
limit=$((40 << 20))
if [ "$bytes" -gt "$limit" ]; then
  echo "error: $archive has $bytes bytes, expected at most $limit; leave out models with --models" >&2
  exit 1
fi
# Programs need these versions of the machine's libraries, or later ones.
needed=
for library in GLIBC GCC; do
  needed+=" $(find "$work/bundle" -type f -perm -u+x ! -name '*.sh' -exec objdump -T {} + |
    sed -nE "s/.*[( ](${library}_[0-9.]+).*/\\1/p" | sort -uV | tail -n 1)"
done
echo "$archive: $((bytes >> 10)) KiB; programs need$needed"
