#!/usr/bin/env bash
# Runs bench/gpu/run.sh with a fake Python. The script must keep the results of each
# part, whatever happens in the next ones, and end in time.
#
# usage: gpu-bench.sh WORKDIR

set -euo pipefail

source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$1
rm -rf "$work"
mkdir -p "$work/bundle"
cp "$source/bench/gpu/run.sh" "$work/bundle"

# python check.py PART ...: one part passes, one fails, one hangs together with a
# program that it has started.
cat >"$work/python" <<'END'
#!/usr/bin/env bash
case ${2:-} in
  parity) echo "| parity | PASS |" ;;
  speed) echo "| speed | PASS |"; echo trouble >&2; exit 3 ;;
  products) trap '' TERM; echo "| products | PASS |"; sleep 100 ;;
  ranks) echo "| ranks | PASS |" ;;
esac
END
chmod +x "$work/python"

# The machine's own takes a while where it has GPUs.
printf '#!/bin/sh\n' >"$work/nvidia-smi"
chmod +x "$work/nvidia-smi"

run() {
  PATH=$work:$PATH PYTHON=$work/python DTC_BENCH_LOGS=$work/logs DTC_BENCH_LIBRARIES=$work \
    DTC_BENCH_SECONDS=$1 DTC_BENCH_PARTS=$2 "$work/bundle/run.sh" >"$work/output"
}

SECONDS=0
if run 30 'parity speed products ranks'; then
  exit 1
fi
[ "$SECONDS" -le 40 ]
grep -qx '3 of 6 checks passed' "$work/output"
grep -q '| speed | ended with status 3 | FAIL |' "$work/output"
grep -q '^    trouble$' "$work/output"
grep -Eq '\| products \| took longer than [0-9]+ s \| FAIL' "$work/output"
grep -q '| ranks | no time is left | FAIL |' "$work/output"
for part in parity speed products; do
  grep -q "| $part | PASS |" "$work/logs/$part.md"
done
run 60 'parity ranks'
grep -qx '2 of 2 checks passed' "$work/output"
