#!/usr/bin/env bash
# Starts ranks on this machine with the variables of torchrun. Ends when all ranks
# have ended, with the status of one that failed.
#
# usage: launch.sh RANKS PROGRAM OPTION...

ranks=$1 status=0 started=()
shift
for ((rank = 0; rank < ranks; ++rank)); do
  RANK=$rank WORLD_SIZE=$ranks LOCAL_RANK=$rank LOCAL_WORLD_SIZE=$ranks \
    MASTER_ADDR=localhost MASTER_PORT=29500 TORCHELASTIC_RUN_ID=$$ \
    TORCHELASTIC_RESTART_COUNT=0 "$@" &
  started+=($!)
done
for process in "${started[@]}"; do
  wait "$process" || status=$?
done
exit "$status"
