#!/usr/bin/env bash
# Ranks do not outlive a launcher that is killed, and no program waits for a
# launcher that hangs.
#
# usage: lost-launchers.sh WORKDIR

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

work=$1
launch=$(dirname "${BASH_SOURCE[0]}")/launch.sh
rm -rf "$work"
mkdir -p "$work/bin"
dtc-model mlp --layers 1 --width 8 -o "$work/mlp.onnx" >"$work/model.log"
dtc "$work/mlp.onnx" --batch 8 --loss mse --init normal --dp 2 -o "$work/t"
options=(--data synthetic --steps 100000000 --log-every 100000000)

fail() {
  echo "FAIL: $*"
  cat "$work/log"
  exit 1
}

# expect_gone SECONDS WHAT: no process of the program or of a stand-in is left.
expect_gone() {
  local tries
  for tries in $(seq $(($1 * 10))); do
    pgrep -f "$work/(t|bin/mpirun) " >/dev/null || return 0
    sleep 0.1
  done
  fail "$2: processes are left after $((tries / 10)) s: $(pgrep -af "$work/")"
}

# expect_loss LAUNCHER WHAT: kills it; its ranks end with one line.
expect_loss() {
  kill -KILL "$1"
  wait "$1" 2>/dev/null || true
  expect_gone 5 "$2"
  [ "$(grep -c 'error: ' "$work/log")" -eq 1 ] &&
    grep -q "error: torchrun (process $1), which started this rank, has ended; see why, then start again with --resume" "$work/log" ||
    fail "$2"
}

# A launcher gets SIGKILL while ranks train. Between it and a rank there may be
# a script.
printf '#!/bin/bash\n"$@"\nexit $?\n' >"$work/wrapper"
chmod +x "$work/wrapper"
for kind in "2" "2 $work/wrapper"; do
  rm -f "$work/metrics"
  # shellcheck disable=SC2086
  bash "$launch" $kind "$work/t" "${options[@]}" --metrics "$work/metrics" \
    >"$work/log" 2>&1 &
  launcher=$!
  for _ in $(seq 300); do
    [ ! -s "$work/metrics" ] || break
    sleep 0.1
  done
  [ -s "$work/metrics" ] || fail "no training under launch.sh $kind"
  expect_loss $launcher "SIGKILL of launch.sh $kind"
done

# And while a rank waits for another.
bash -c 'TORCHELASTIC_RUN_ID=$$ RANK=0 WORLD_SIZE=2 LOCAL_RANK=0 LOCAL_WORLD_SIZE=2 \
  MASTER_PORT=29500 "$@" & wait' launcher "$work/t" "${options[@]}" >"$work/log" 2>&1 &
launcher=$!
sleep 1
expect_loss $launcher "SIGKILL at the start"

# mpirun hangs before it starts ranks: the program ends it by --timeout.
cat >"$work/bin/mpirun" <<'END'
#!/bin/bash
trap '' TERM INT USR1 HUP
mkfifo "$0.pipe.$$"
exec 3<>"$0.pipe.$$"
if [ -n "$RANK_OF_MPIRUN" ]; then
  sleep 1000 &
  echo $! >"$0.rank"
fi
read -r -u 3
END
chmod +x "$work/bin/mpirun"
PATH=$work/bin:$PATH "$work/t" --nproc 2 "${options[@]}" --timeout 2 \
  >"$work/log" 2>&1 && fail "a hanging mpirun is no error"
[ "$(wc -l <"$work/log")" -eq 1 ] &&
  grep -q "^t: error: mpirun has had no rank for 2 s: it hangs; see whether" "$work/log" ||
  fail "mpirun hangs at the start"
expect_gone 2 "mpirun hangs at the start"

# mpirun hangs later: the second signal ends all.
RANK_OF_MPIRUN=yes PATH=$work/bin:$PATH "$work/t" --nproc 2 "${options[@]}" \
  --save-weights "$work/weights" >"$work/log" 2>&1 &
program=$!
sleep 1
kill -TERM $program
sleep 3
kill -0 $program 2>/dev/null || fail "the first signal ends mpirun at once"
kill -TERM $program
status=0
wait $program || status=$?
[ $status -eq 137 ] && grep -q "^t: mpirun has not ended 5 s after SIGTERM, and gets SIGKILL$" "$work/log" ||
  fail "the second signal: status $status"
expect_gone 2 "the second signal"
kill "$(<"$work/bin/mpirun.rank")"

# MPI hangs: a rank never calls it.
timeout 60 mpirun --oversubscribe -n 1 "$work/t" "${options[@]}" --timeout 2 : \
  -n 1 sleep 1000 >"$work/log" 2>&1 && fail "a rank that never comes is no error"
grep -q "^t: error: MPI has not started for 2 s: mpirun hangs, or another rank has not come; see why, or give it longer with --timeout$" "$work/log" ||
  fail "a rank never comes"
echo done
