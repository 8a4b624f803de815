#!/usr/bin/env bash
# Checks that two ranks with the variables of each launcher have the losses of a run
# under mpirun.
#
# usage: launchers.sh WORKDIR

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

work=$1 model=toy plan=2x1:gpipe:1
rm -rf "$work"
mkdir -p "$work"
compile $model $plan f32 sgd "$work/t" --target cuda --arch host
train_on_standins $plan "$work/t" --steps 2 --no-shuffle --metrics "$work/mpirun"
losses() { grep -o '"loss":[^,}]*' "$work/$1"; }
losses mpirun >/dev/null

# start NAME VARIABLE...: starts the ranks; @ stands for the rank.
start() {
  local name=$1 ranks=()
  shift
  for rank in 0 1; do
    env "${@//@/$rank}" LD_LIBRARY_PATH="$standins" DTC_STANDIN_PATIENCE=20 \
      "$work/t" --data "$inputs/$model.data" --steps 2 --no-shuffle \
      --metrics "$work/$name" >"$work/$name.$rank" 2>&1 &
    ranks+=($!)
  done
  local status=0
  for rank in "${ranks[@]}"; do
    wait "$rank" || status=1
  done
  [ $status -eq 0 ] || { cat "$work/$name".?; return 1; }
  diff <(losses "$name") <(losses mpirun)
}

start one-node SLURM_JOB_ID=$$ SLURM_STEP_ID=0 SLURM_PROCID=@ SLURM_NTASKS=2 \
  SLURM_LOCALID=@ SLURM_NODEID=0 SLURM_STEP_TASKS_PER_NODE=2
# The third machine of a step, by Slurm's variables.
start third-node SLURM_JOB_ID=$$ SLURM_STEP_ID=1 SLURM_PROCID=@ SLURM_NTASKS=2 \
  SLURM_LOCALID=@ SLURM_NODEID=2 "SLURM_STEP_TASKS_PER_NODE=1(x2),2"
start torchrun RANK=@ WORLD_SIZE=2 LOCAL_RANK=@ LOCAL_WORLD_SIZE=2 \
  TORCHELASTIC_RUN_ID=$$ MASTER_PORT=29500 TORCHELASTIC_RESTART_COUNT=0

# Each rank sees one GPU, chosen by its launcher.
one_gpu=(SLURM_JOB_ID=$$ SLURM_PROCID=@ SLURM_NTASKS=2 SLURM_LOCALID=@
  SLURM_NODEID=0 SLURM_STEP_TASKS_PER_NODE=2)
start one-gpu-each "${one_gpu[@]}" SLURM_STEP_ID=3 CUDA_VISIBLE_DEVICES=@

# expect_refused NAME LINE VARIABLE...: checks that the ranks end with exactly this line.
expect_refused() {
  local name=$1 line=$2
  shift 2
  if start "$name" "$@" >"$work/$name.output"; then
    echo "FAIL: $name: trains"
    return 1
  fi
  cat "$work/$name".[01] >"$work/$name.lines"
  diff "$work/$name.lines" <(echo "t: error: $line")
}
expect_refused one-for-both "ranks 0 and 1 have the same GPU, stand-in with UUID \
7374616e-642d-696e-0500-000000000000, expected one for each; start fewer ranks on \
that machine, or give each another one in CUDA_VISIBLE_DEVICES" \
  "${one_gpu[@]}" SLURM_STEP_ID=4 CUDA_VISIBLE_DEVICES=5

# Two machines, by the launcher's variables: ranks meet over TCP. Two jobs share one
# base port, and leave the port itself to a server of torchrun.
over_tcp=(RANK=@ WORLD_SIZE=2 LOCAL_RANK=0 LOCAL_WORLD_SIZE=1 NCCL_HOSTID=@
  MASTER_ADDR=localhost MASTER_PORT=$((20000 + $$ % 10000)))
start first-job "${over_tcp[@]}" TORCHELASTIC_RUN_ID=first &
first_job=$!
start second-job "${over_tcp[@]}" TORCHELASTIC_RUN_ID=second
wait $first_job
start agent "${over_tcp[@]}" TORCHELASTIC_RUN_ID=$$ TORCHELASTIC_USE_AGENT_STORE=True
start slurm "${over_tcp[@]:4}" SLURM_JOB_ID=$$ SLURM_STEP_ID=2 SLURM_PROCID=@ \
  SLURM_NTASKS=2 SLURM_LOCALID=0 SLURM_NODEID=@ "SLURM_STEP_TASKS_PER_NODE=1(x2)"

# expect_alone RANK LINE: starts only this rank.
expect_alone() {
  local log=$work/alone.$1
  if env "${over_tcp[@]//@/$1}" LD_LIBRARY_PATH="$standins" "$work/t" \
    --data "$inputs/$model.data" --steps 1 --timeout 1 >"$log" 2>&1; then
    return 1
  fi
  grep -qE "error: $2" "$log" || { cat "$log"; return 1; }
}
expect_alone 0 '1 of 1 other ranks have not reached rank 0 at port [0-9]+ for 1 s, the first is rank 1; '
expect_alone 1 'found no rank 0 of this job at MASTER_ADDR=localhost, ports [0-9]+ to [0-9]+, for 1 s; '
over_tcp+=(MASTER_PORT=x)
expect_alone 1 "the environment has MASTER_PORT='x', expected a number from 1 to [0-9]+"
