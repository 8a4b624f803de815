#!/usr/bin/env bash
# Ranks end soon after their launcher, and a program ends an mpirun that hangs.
# Every wait has a limit: a part that fails says so in a line with its name.
#
# usage: lost-launchers.sh WORKDIR

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

work=$1
launch=$(dirname "${BASH_SOURCE[0]}")/launch.sh
limit=60 # seconds that one wait takes at most
part="compiling the program"

# A process of the program, or of the stand-in for mpirun.
processes() { pgrep -f "$work/(t|bin/mpirun) " "$@"; }

fail() {
  echo "FAIL: $part: $*"
  cat "$work/log"
  exit 1
}

# shellcheck disable=SC2317 # called at the end
end_processes() {
  { processes; cat "$work/bin/mpirun.agent"; } 2>/dev/null |
    xargs -r kill -KILL 2>/dev/null || true
}
trap end_processes EXIT

# wait_for WHAT COMMAND...: waits until the command succeeds.
wait_for() {
  local what=$1 end=$((SECONDS + limit))
  shift
  until "$@"; do
    [ $SECONDS -lt $end ] || fail "waited $limit s for $what"
    sleep 0.1
  done
}

has_ended() { ! kill -0 "$1" 2>/dev/null; }
nothing_runs() { ! processes >/dev/null; }

# status_of PROCESS: waits for a child of this script; sets $status.
status_of() {
  wait_for "the end of process $1" has_ended "$1"
  status=0
  wait "$1" 2>/dev/null || status=$?
}

# expect_gone: nothing that this part has started is left.
expect_gone() { wait_for "the end of all processes" nothing_runs; }

# expect_loss MESSAGE: ranks end with this error, which one of them reports.
expect_loss() {
  expect_gone
  [ "$(grep -c 'error: ' "$work/log")" -eq 1 ] && grep -q "error: $1" "$work/log" ||
    fail "expected one error: $1"
}

# kill_launcher PROCESS: its ranks end.
kill_launcher() {
  kill -KILL "$1"
  status_of "$1"
  expect_loss "torchrun (process $1), which started this rank, has ended; see why, then start again with --resume"
}

rm -rf "$work"
mkdir -p "$work/bin"
: >"$work/log"
timeout -k 10 300 dtc-model mlp --layers 1 --width 8 -o "$work/mlp.onnx" >"$work/log" 2>&1 ||
  fail "dtc-model: status $?"
timeout -k 10 300 dtc "$work/mlp.onnx" --batch 8 --loss mse --init normal --dp 2 -o "$work/t" \
  >"$work/log" 2>&1 || fail "dtc: status $?"
options=(--data synthetic --steps 100000000 --log-every 100000000)

# A launcher gets SIGKILL while ranks train. Between it and a rank there may be
# a script.
printf '#!/bin/bash\n"$@"\nexit $?\n' >"$work/wrapper"
chmod +x "$work/wrapper"
for kind in "2" "2 $work/wrapper"; do
  part="SIGKILL of launch.sh $kind"
  rm -f "$work/metrics"
  # shellcheck disable=SC2086
  bash "$launch" $kind "$work/t" "${options[@]}" --metrics "$work/metrics" \
    >"$work/log" 2>&1 &
  launcher=$!
  wait_for "the first step" test -s "$work/metrics"
  kill_launcher $launcher
done

# While a rank waits for another. It has an eventfd when it watches its launcher.
part="SIGKILL at the start"
# shellcheck disable=SC2016
one_rank='TORCHELASTIC_RUN_ID=$$ RANK=0 WORLD_SIZE=2 LOCAL_RANK=0 LOCAL_WORLD_SIZE=2 \
  MASTER_PORT=29500 "$@" &'
bash -c "$one_rank wait" launcher "$work/t" "${options[@]}" >"$work/log" 2>&1 &
launcher=$!
# shellcheck disable=SC2317 # called by wait_for
watches_launcher() {
  local rank
  rank=$(pgrep -P "$launcher") && ls -l "/proc/$rank/fd" 2>/dev/null | grep -q eventfd
}
wait_for "a rank that watches its launcher" watches_launcher
kill_launcher $launcher

# The launcher ends before the rank looks for it.
part="a launcher that has ended"
setsid -w bash -c "$one_rank" launcher "$work/t" "${options[@]}" >"$work/log" 2>&1
expect_loss "torchrun.* has ended"

# A stand-in for mpirun that ignores signals and never ends. It runs $MPIRUN_RUNS
# before, and has no child otherwise.
mkfifo "$work/bin/mpirun.never"
cat >"$work/bin/mpirun" <<'END'
#!/bin/bash
trap '' TERM INT USR1 HUP
exec 3<>"$0.never"
if [ "$MPIRUN_RUNS" = agent ]; then
  sleep 1000 &
  echo $! >"$0.agent"
else
  $MPIRUN_RUNS >/dev/null
fi
: >"$0.ready"
read -r -u 3
END
chmod +x "$work/bin/mpirun"

for runs in "" "$work/t --version"; do
  part="mpirun hangs after '$runs'"
  status=0
  MPIRUN_RUNS=$runs PATH=$work/bin:$PATH timeout -k 10 $limit \
    "$work/t" --nproc 2 "${options[@]}" --timeout 2 >"$work/log" 2>&1 || status=$?
  [ "$status" -eq 1 ] && [ "$(wc -l <"$work/log")" -eq 1 ] &&
    grep -q "^t: error: mpirun has had no rank for 2 s: it hangs; see whether" "$work/log" ||
    fail "status $status"
  expect_gone
done

# mpirun hangs while ranks run on another machine, whose launch agent is here:
# the second signal ends all.
part="two signals"
rm -f "$work/bin/mpirun.ready"
MPIRUN_RUNS=agent PATH=$work/bin:$PATH "$work/t" --nproc 2 "${options[@]}" \
  --save-weights "$work/weights" --timeout 1 >"$work/log" 2>&1 &
program=$!
wait_for "mpirun" test -e "$work/bin/mpirun.ready"
kill -TERM $program
sleep 3 # a signal within two seconds would belong to the first request
has_ended $program && fail "the program ended at the first signal"
kill -TERM $program
status_of $program
[ "$status" -eq 137 ] && grep -q "^t: mpirun has not ended 5 s after SIGTERM, and gets SIGKILL$" "$work/log" ||
  fail "status $status"
expect_gone
kill -KILL "$(<"$work/bin/mpirun.agent")"
rm "$work/bin/mpirun.agent"

# MPI hangs: a rank never calls it.
part="a rank that never comes"
status=0
timeout -k 10 $limit mpirun --oversubscribe -n 1 "$work/t" "${options[@]}" --timeout 2 : \
  -n 1 sleep 1000 >"$work/log" 2>&1 || status=$?
[ "$status" -ne 0 ] && [ "$status" -ne 124 ] && [ "$status" -ne 137 ] &&
  grep -q "^t: error: MPI has not started for 2 s: mpirun hangs, or another rank has not started; see why, or raise --timeout$" "$work/log" ||
  fail "status $status"
expect_gone
echo done
