#!/usr/bin/env bash
# Checks that the runtime allocates the memory on a GPU that the compiler counts. The
# program must start on a stand-in with that much memory and 64 KiB for the scratch of
# kernels, and must not start with a byte less than the plan. Context and NCCL allocate
# nothing on stand-ins.
#
# usage: memory.sh WORKDIR

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

work=$1 model=toy
rm -rf "$work"
mkdir -p "$work"

# field NAME: prints a field of the report's first stage.
field() { grep -o "\"$1\":[0-9]*" "$work/report" | head -n 1 | cut -d: -f2; }

# check PLAN COMMUNICATORS
check() {
  local plan=$1 communicators=$2 bytes
  compile $model "$plan" f32 sgd "$work/t" --target cuda --arch host --report-json "$work/report"
  bytes=$(($(field peak) + $(field reserved) - (768 << 20) - communicators * (256 << 20)))
  DTC_STANDIN_MEMORY=$((bytes + (64 << 10))) train_on_standins "$plan" "$work/t" --steps 1
  if DTC_STANDIN_MEMORY=$((bytes - 1)) train_on_standins "$plan" "$work/t" --steps 1 >"$work/refused"; then
    echo "$plan needs less than the $bytes bytes that are counted"
    exit 1
  fi
  grep -q "this GPU has .* free of .*; see what else uses it, or compile with --device-memory" "$work/refused"
}

check 1x1:gpipe:1 0
check 2x1:gpipe:1 2
check 2x2:1f1b:2 3
