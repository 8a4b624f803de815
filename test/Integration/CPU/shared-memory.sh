#!/usr/bin/env bash
# Checks that the result of a program does not depend on overlap. If ranks cannot
# share memory, the program prints one note and has the bits of MPI.
#
# usage: shared-memory.sh MODEL WORKDIR PLAN...        PLAN as in common.sh

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

check() {
  compile "$model" "$plan" f32 adamw "$here/t"
  options=(--data "$inputs/$model.data" --steps 3)
  for engine in auto mpi; do
    for overlap in on off; do
      collectives=$engine train "$model" "$plan" "$here/t" --steps 3 \
        --overlap $overlap --save-weights "$here/$engine-$overlap.safetensors"
      if grep note: "$here/t.log"; then
        echo "FAIL: a note although ranks can share memory"
        exit 1
      fi
    done
    cmp "$here/$engine-on.safetensors" "$here/$engine-off.safetensors"
  done
  # Memory fails on all ranks, then on the last alone.
  last=$(($(ranks_of "$plan") - 1))
  mpirun=(mpirun --oversubscribe --bind-to none -x LD_PRELOAD="$observer")
  alone=(-n $((last)) "$here/t" "${options[@]}"
    --save-weights "$here/last.safetensors" : -n 1 -x DTC_OBSERVE_NO_SHARING=1
    -x LD_PRELOAD="$observer" "$here/t" "${options[@]}"
    --save-weights "$here/last.safetensors")
  run "$here/all.log" "${mpirun[@]}" -x DTC_OBSERVE_NO_SHARING=1 \
    -n $((last + 1)) "$here/t" "${options[@]}" \
    --save-weights "$here/all.safetensors"
  run "$here/last.log" "${mpirun[@]}" "${alone[@]}"
  for who in all last; do
    grep note: "$here/$who.log"
    cmp "$here/$who.safetensors" "$here/mpi-on.safetensors"
  done
}

for_plans check "$@"
