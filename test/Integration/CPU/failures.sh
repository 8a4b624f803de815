#!/usr/bin/env bash
# Kills or stops a rank during a run. The job must end in time, with one line that
# names the rank, and leave no process and no file.
#
# usage: failures.sh WORKDIR

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

work=$1 model=mlp-digits plan=2x2:1f1b:4
here=$(dirname "${BASH_SOURCE[0]}")
rm -rf "$work"
mkdir -p "$work"
compile $model $plan f32 sgd "$work/t"

# processes: prints the processes of the program, ranks and others.
processes() {
  local process
  for process in $(pgrep -f "$work/t --data"); do
    [ "$(readlink "/proc/$process/exe")" != "$(realpath "$work/t")" ] || echo "$process"
  done
}

# lose SIGNAL SECONDS ENGINE LAUNCHER...
lose() {
  local signal=$1 seconds=$2 engine=$3 job status=0 start
  shift 3
  rm -f "$work/metrics"
  timeout 60 "$@" "$work/t" --data "$inputs/$model.data" --steps 1000000 --timeout 3 \
    --collectives "$engine" --metrics "$work/metrics" >"$work/log" 2>&1 &
  job=$!
  for _ in $(seq 300); do
    [ ! -s "$work/metrics" ] || break
    sleep 0.1
  done
  start=$SECONDS
  kill -"$signal" "$(processes | shuf -n 1)"
  wait $job || status=$?
  # mpirun does not wait for all processes that it has killed.
  for _ in $(seq 50); do
    [ -n "$(processes)" ] || break
    sleep 0.1
  done
  if [ $status -eq 0 ] || [ $((SECONDS - start)) -gt "$seconds" ] ||
    [ "$(grep -c 'error: ' "$work/log")" -ne 1 ] || [ -n "$(processes)" ] ||
    ! grep -qE 'error: rank [0-3] \(pp [01], dp [01]\) is lost: .*; see why, then start again with --resume' "$work/log"; then
    echo "FAIL: $signal $engine $*: status $status after $((SECONDS - start)) s"
    cat "$work/log"
    exit 1
  fi
}

for engine in auto mpi; do
  for launcher in "mpirun --oversubscribe --bind-to none -n 4" "bash $here/launch.sh 4"; do
    # shellcheck disable=SC2086
    lose KILL 10 $engine $launcher
    # shellcheck disable=SC2086
    lose STOP 15 $engine $launcher
  done
done
