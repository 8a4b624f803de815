#!/usr/bin/env bash
# Tests ranks that others wait for in vain. The ranks have no launcher, because a
# launcher would end them itself.
#
# usage: failures.sh WORKDIR

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

work=$1 model=mlp-digits
rm -rf "$work"
mkdir -p "$work"
export DTC_STANDIN_PATIENCE=120 # the stand-in itself does not give up

# start PROGRAM RANK OPTION...: rank RANK of two; sets $started.
start() {
  local program=$1 rank=$2
  shift 2
  RANK=$rank WORLD_SIZE=2 LOCAL_RANK=$rank LOCAL_WORLD_SIZE=2 \
    TORCHELASTIC_RUN_ID="$run" MASTER_PORT=29500 LD_LIBRARY_PATH="$standins" \
    "$program" --data "$inputs/$model.data" --steps 1000000 --timeout 5 \
    --metrics "$work/$run" "$@" >"$work/$run.$rank" 2>&1 &
  started=$!
}

# expect_none PATTERN: checks that no file remains.
expect_none() {
  if compgen -G "$1"; then
    echo "FAIL: $run: leaves this behind"
    exit 1
  fi
}

# expect_end PID SECONDS LINE: checks that the process ends in time, in error. LINE is
# its last line and its only error. It leaves no file of the rendezvous.
expect_end() {
  local pid=$1 deadline=$((SECONDS + $2)) status=0 log
  while kill -0 "$pid" 2>/dev/null && [ $SECONDS -lt $deadline ]; do
    sleep 0.1
  done
  log=$(ls "$work/$run".[01] | head -n 1)
  if kill -0 "$pid" 2>/dev/null; then
    echo "FAIL: $run: still runs after $2 s"
    kill -9 "$pid"
    exit 1
  fi
  wait "$pid" || status=$?
  if [ "$status" -ne 1 ] || [ "$(grep -c 'error: ' "$log")" -ne 1 ] ||
    ! tail -n 1 "$log" | grep -qE "$3"; then
    echo "FAIL: $run: status $status, expected 1 and: $3"
    cat "$log"
    exit 1
  fi
  expect_none "/dev/shm/dtc-$UID-$run*"
}

# lose NAME SIGNAL PROGRAM LINE: sends rank 1 the signal during the run.
lose() {
  local name=$1 signal=$2 program=$3 line=$4 survivor lost
  run=$name.$$
  start "$program" 0
  survivor=$started
  start "$program" 1
  lost=$started
  for _ in $(seq 200); do
    [ "$(wc -l 2>/dev/null <"$work/$run" || echo 0)" -lt 3 ] || break
    sleep 0.1
  done
  disown "$lost" # keeps bash from reporting its death
  kill -"$signal" "$lost"
  expect_end "$survivor" 20 "$line"
  expect_none "$DTC_STANDIN_FOLDER/*-0" # all communicators were aborted
  kill -9 "$lost" 2>/dev/null || true
  rm -f "$DTC_STANDIN_FOLDER"/*
}

compile $model 2x1:gpipe:1 f32 sgd "$work/data" --target cuda --arch host
compile $model 1x2:1f1b:4 f32 sgd "$work/pipeline" --target cuda --arch host

# A call during the run.
todo='; see why, then start again with --resume$'
line="error: waited 5 s for (all_reduce over [dp]p of [0-9.]+ [a-zA-Z]+|the send of [0-9.]+ [a-zA-Z]+ to rank 1 \(pp 1, dp 0\)|[0-9.]+ [a-zA-Z]+ from rank 1 \(pp 1, dp 0\))( in stage function [a-zA-Z]+( of micro-batch [0-9])?)?: another rank is lost, hangs, cannot be reached, or needs more than --timeout 5$todo"
lose killed KILL "$work/data" "^data: rank 0 \(pp 0, dp 0\): $line"
lose hangs STOP "$work/pipeline" "^pipeline: rank 0 \(pp 0, dp 0\): $line"
DTC_STANDIN_NOTICES=1 lose noticed KILL "$work/data" \
  "rank 0 \(.*\): error: NCCL reports .* while this rank waits for .*$todo"

run=alone.$$
start "$work/data" 0
expect_end "$started" 15 "rank 0 \(.*\): error: rank 1 has not written '.*' for 5 s"
run=headless.$$
start "$work/data" 1
expect_end "$started" 15 "rank 1 \(.*\): error: rank 0 has not written '.*' for 5 s"
