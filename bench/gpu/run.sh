#!/usr/bin/env bash
# Compares programs for GPUs with PyTorch on this machine's GPU, in less than
# nine minutes; the output is Markdown. See bench/README.md.
#
# usage: run.sh [ARCHIVE]           of prepare.sh; without it, the folder of this
#                                   script is the unpacked archive
#
# $DTC_BENCH_PARTS are the parts to run, $DTC_BENCH_LOGS a folder for what programs
# print, $DTC_BENCH_LIBRARIES one of libraries to use in place of PyTorch's.
#
# Needs an NVIDIA GPU with its driver, cuBLASLt, cuDNN and NCCL where the loader
# finds them, and a python3 ($PYTHON) with PyTorch and transformers. The last line
# says how many checks passed; the exit status is 0 if all did.

set -uo pipefail

work=$(mktemp -d)
keep_logs() {
  [ -z "${DTC_BENCH_LOGS:-}" ] || cp "$work"/*.log "$work"/*.errors "$DTC_BENCH_LOGS"
  rm -rf "$work"
}
trap keep_logs EXIT
bundle=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [ $# -gt 0 ]; then
  tar -C "$work" -xf "$1" || "${PYTHON:-python3}" -m tarfile -e "$1" "$work" || exit 1
  bundle=$work/bundle
fi
python=${PYTHON:-python3}
export HF_HUB_OFFLINE=1 PYTHONUNBUFFERED=1 OMP_NUM_THREADS=${OMP_NUM_THREADS:-8}

# The libraries that PyTorch brings come first: programs are compared with it.
libraries=${DTC_BENCH_LIBRARIES:-$("$python" - <<'END'
import importlib.util
import pathlib
torch = importlib.util.find_spec("torch")
folder = pathlib.Path(torch.origin).parents[1] if torch else pathlib.Path()
print(":".join(map(str, sorted(folder.glob("nvidia/*/lib")))))
END
)}
export LD_LIBRARY_PATH=$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

# part NAME SECONDS: a part that fails or takes longer is a failed check. The last
# ones have what is left of all.
all=530
part() {
  local status=0 left=$((all - SECONDS))
  echo
  echo "## $1"
  [ "$left" -lt "$2" ] && set -- "$1" "$left"
  if [ "$2" -lt 20 ]; then
    echo "| $1 | no time is left | FAIL |"
    return
  fi
  # shellcheck disable=SC2086
  timeout --kill-after=5 "$2" "$python" "$bundle/check.py" "$1" "$bundle" "$work" \
    --seconds "$(($2 - 20))" ${DTC_BENCH_OPTIONS:-} 2>"$work/$1.errors" || status=$?
  [ "$status" -eq 0 ] && return
  tail -n 5 "$work/$1.errors" | cut -c 1-300 | sed 's/^/    /'
  echo
  if [ "$status" -eq 124 ]; then
    echo "| $1 | took longer than $2 s | FAIL |"
  else
    echo "| $1 | ended with status $status | FAIL |"
  fi
}

{
  echo "# Programs of dtc on a GPU"
  echo
  nvidia-smi --query-gpu=name,driver_version,memory.total,compute_mode --format=csv,noheader 2>"$work/smi" ||
    echo "nvidia-smi says: $(cat "$work/smi")"
  for name in ${DTC_BENCH_PARTS:-parity speed ranks sanitizer}; do
    case $name in
      parity) part parity 190 ;;
      ranks) part ranks 110 ;;
      speed) part speed 240 ;;
      sanitizer) part sanitizer 100 ;;
      *) echo "| $name | is no part | FAIL |" ;;
    esac
  done
} | tee "$work/output"

passed=$(grep -c '| PASS |$' "$work/output")
failed=$(grep -c '| FAIL |$' "$work/output")
echo
echo "$passed of $((passed + failed)) checks passed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
