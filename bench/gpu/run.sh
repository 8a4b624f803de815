#!/usr/bin/env bash
# Compares programs for GPUs with PyTorch on this machine's GPU, in less than
# nine minutes; the output is Markdown. See bench/README.md.
#
# usage: run.sh [ARCHIVE]           ARCHIVE is made by prepare.sh; without it, the
#                                   folder of this script is the unpacked archive
#
# $DTC_BENCH_PARTS      the parts to run
# $DTC_BENCH_LOGS       a folder that gets the result and the programs' output of
#                       each part as soon as the part has ended
# $DTC_BENCH_SECONDS    the time limit of all parts (530)
# $DTC_BENCH_LIBRARIES  a folder of libraries to use instead of PyTorch's
#
# Needs an NVIDIA GPU with its driver, cuBLASLt, cuDNN and NCCL in the loader's
# folders, and a python3 ($PYTHON) with PyTorch and transformers. The last line
# counts the checks that passed; the exit status is 0 if all did.

set -uo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
keep_logs() {
  [ -n "${DTC_BENCH_LOGS:-}" ] || return 0
  mkdir -p "$DTC_BENCH_LOGS"
  find "$work" -maxdepth 1 \( -name '*.log' -o -name '*.errors' -o -name '*.md' \) \
    -exec cp {} "$DTC_BENCH_LOGS" \;
}
bundle=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [ $# -gt 0 ]; then
  tar -C "$work" -xf "$1" || "${PYTHON:-python3}" -m tarfile -e "$1" "$work" || exit 1
  bundle=$work/bundle
fi
python=${PYTHON:-python3}
export HF_HUB_OFFLINE=1 PYTHONUNBUFFERED=1 OMP_NUM_THREADS=${OMP_NUM_THREADS:-8}

# PyTorch's own libraries come first, because programs are compared with it.
libraries=${DTC_BENCH_LIBRARIES:-$(timeout 60 "$python" - <<'END'
import importlib.util
import pathlib
torch = importlib.util.find_spec("torch")
folder = pathlib.Path(torch.origin).parents[1] if torch else pathlib.Path()
print(":".join(map(str, sorted(folder.glob("nvidia/*/lib")))))
END
)}
export LD_LIBRARY_PATH=$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

# part NAME SECONDS: a part that fails or takes longer is a failed check. The last
# parts get the remaining time. The result of a part is kept, whatever follows.
all=${DTC_BENCH_SECONDS:-530}
part() {
  run_part "$@" | tee "$work/$1.md"
  keep_logs
}

run_part() {
  local status=0 left=$((all - SECONDS - 5))
  echo
  echo "## $1"
  [ "$left" -lt "$2" ] && set -- "$1" "$left"
  if [ "$2" -lt 20 ]; then
    echo "| $1 | no time is left | FAIL |"
    return
  fi
  # shellcheck disable=SC2086
  timeout --kill-after=5 "$2" "$python" "$bundle/check.py" "$1" "$bundle" "$work" \
    --seconds "$(($2 - 20))" ${DTC_BENCH_OPTIONS:-} 2>"$work/$1.errors" </dev/null || status=$?
  [ "$status" -eq 0 ] && return
  tail -n 5 "$work/$1.errors" | cut -c 1-300 | sed 's/^/    /'
  echo
  if [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; then
    echo "| $1 | took longer than $2 s | FAIL |"
  else
    echo "| $1 | ended with status $status | FAIL |"
  fi
}

{
  echo "# Programs of dtc on a GPU"
  echo
  timeout 20 nvidia-smi --query-gpu=name,driver_version,memory.total,compute_mode,clocks.sm,clocks.max.sm \
    --format=csv,noheader 2>"$work/smi" ||
    echo "nvidia-smi says: $(cat "$work/smi")"
  for name in ${DTC_BENCH_PARTS:-parity speed products ranks sanitizer}; do
    case $name in
      parity) part parity 190 ;;
      ranks) part ranks 110 ;;
      speed) part speed 220 ;;
      products) part products 60 ;;
      sanitizer) part sanitizer 100 ;;
      *) echo "| $name | is not a part | FAIL |" ;;
    esac
  done
} | tee "$work/output"

passed=$(grep -c '| PASS |$' "$work/output")
failed=$(grep -c '| FAIL |$' "$work/output")
echo
echo "$passed of $((passed + failed)) checks passed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
