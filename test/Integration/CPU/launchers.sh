#!/usr/bin/env bash
# Checks that ranks without MPI train as under mpirun, with shared memory and without,
# and that invalid variables give a one-line error. mpirun checks that ranks call
# MPI_Finalize.
#
# usage: launchers.sh WORKDIR

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

work=$1 model=mlp-digits plan=2x2:1f1b:4
launch=$(dirname "${BASH_SOURCE[0]}")/launch.sh
rm -rf "$work"
mkdir -p "$work"
compile $model $plan f32 sgd "$work/t"
OMPI_MCA_orte_allowed_exit_without_sync=0 train $model $plan "$work/t" \
  --steps 3 --save-weights "$work/mpirun"
for engine in auto mpi; do
  run "$work/$engine.log" bash "$launch" 4 "$work/t" --data "$inputs/$model.data" \
    --steps 3 --collectives $engine --save-weights "$work/$engine"
  cmp "$work/$engine" "$work/mpirun"
done

# Starts ranks like mpiexec of MPICH, which gives its jobs no name.
master=(MASTER_ADDR=localhost MASTER_PORT=$((20000 + $$ % 10000)))
mpiexec() { # RANKS COMMAND...
  local ranks=$1 rank status=0 started=()
  shift
  for ((rank = 0; rank < ranks; ++rank)); do
    env "${master[@]}" PMI_RANK=$rank PMI_SIZE="$ranks" MPI_LOCALRANKID=$rank \
      MPI_LOCALNRANKS="$ranks" "$@" &
    started+=($!)
  done
  for process in "${started[@]}"; do
    wait "$process" || status=$?
  done
  return "$status"
}
run "$work/pmi.log" mpiexec 4 "$work/t" --data "$inputs/$model.data" --steps 3 \
  --save-weights "$work/pmi"
cmp "$work/pmi" "$work/mpirun"

# expect_refusal LINE VARIABLE...
expect_refusal() {
  local line=$1
  shift
  if env "$@" "$work/t" --data synthetic >"$work/log" 2>&1; then
    echo "ERROR: the program accepts $*"
    return 1
  fi
  if [ "$(wc -l <"$work/log")" -ne 1 ] || ! grep -qE "error: $line" "$work/log"; then
    cat "$work/log"
    return 1
  fi
}
expect_refusal "the environment has RANK='x', expected a number" RANK=x WORLD_SIZE=4
expect_refusal 'the environment has RANK=4 and WORLD_SIZE=4, expected' RANK=4 WORLD_SIZE=4
expect_refusal 'the environment has RANK and MASTER_ADDR, but no WORLD_SIZE' RANK=0 MASTER_ADDR=a
expect_refusal 'the environment has PMI_RANK, but no PMI_SIZE; mpiexec sets both' PMI_RANK=0
expect_refusal 'found no way for 4 ranks to find each other, expected MASTER_ADDR' \
  PMI_RANK=0 PMI_SIZE=4 MPI_LOCALRANKID=0 MPI_LOCALNRANKS=4
expect_refusal 'the environment has LOCAL_WORLD_SIZE=8, more than WORLD_SIZE=4' \
  RANK=0 WORLD_SIZE=4 LOCAL_RANK=0 LOCAL_WORLD_SIZE=8
