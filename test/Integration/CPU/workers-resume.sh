#!/usr/bin/env bash
# Checks that checkpoints have what workers that train apart keep: a resumed training
# has the same bits, and other numbers of workers and programs without continue.
#
# usage: workers-resume.sh WORKDIR

source "$(dirname "${BASH_SOURCE[0]}")/resume.sh"

# The break is between two averages, and in the middle of a cycle.
for more in sync=every:2 sync=every:4,outer=nesterov:0.7:0.9 sync=every:4,fragments=2 \
  sync=every:2,outer=nesterov:0.7:0.9+zero=2+hsdp=2 sync=gossip:ring \
  sync=gossip:exponential+zero=3+hsdp=2 sync=gossip:one-peer; do
  has_same_bits 4x1:gpipe:1:$more
done

# Other plans begin with the mean of the workers' parameters, which is what the former
# program saved.
folder=$work/other
resume 4x1:gpipe:1:sync=every:2,outer=nesterov:0.7:0.9 5
for plan in 2x1:gpipe:1:sync=every:2,outer=nesterov:0.7:0.9 4x1:gpipe:1 \
  2x2:gpipe:1:sync=gossip:ring 4x1:gpipe:1:sync=every:3,outer=nesterov:0.7:0.9 \
  4x1:gpipe:1:zero=1; do
  rm -rf "$work/copy"
  cp -r "$folder" "$work/copy"
  before=$folder.safetensors
  (
    folder=$work/copy
    resume "$plan" 5
  )
  dtc-compare tensors "$work/copy.safetensors" "$before" --tolerance 1e-6
  echo "ok: $plan begins with the mean"
done
steps=5
for plan in 2x1:gpipe:1:sync=every:2,outer=nesterov:0.7:0.9 2x2:gpipe:1:sync=gossip:ring \
  4x1:gpipe:1:zero=1 4x1:gpipe:1:sync=every:3,outer=nesterov:0.7:0.9; do
  steps=$((steps + 1))
  resume "$plan" $steps
  echo "ok: $plan continues"
done
