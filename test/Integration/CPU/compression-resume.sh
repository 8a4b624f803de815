#!/usr/bin/env bash
# Checks that checkpoints have the states of compression: a resumed training has the
# same bits, and programs of other plans, compressors and numbers of replicas continue.
#
# usage: compression-resume.sh WORKDIR

source "$(dirname "${BASH_SOURCE[0]}")/resume.sh"

for more in sync=delayed:2 sync=delayed:1+zero=1 topk:0.1 int8 powersgd:2 \
  topk:0.1+error-feedback=ef21 topk:0.1+error-feedback=dgc:0.9 int8+zero=1 \
  int8+zero=2+hsdp=2 topk:0.1+zero=3; do
  case $more in
    sync=*) has_same_bits 4x1:gpipe:1:$more ;;
    *) has_same_bits 4x1:gpipe:1:compress=$more ;;
  esac
done

# Other plans continue: their own errors start from zero or from the mean of what is
# there.
folder=$work/other
resume 4x1:gpipe:1:compress=topk:0.1 4
steps=4
for plan in 2x1:gpipe:1:compress=topk:0.1 2x2:gpipe:1:compress=topk:0.1 \
  2x1x2:gpipe:1:compress=topk:0.1 4x1:gpipe:1:compress=topk:0.1+zero=1 4x1:gpipe:1 \
  2x1:gpipe:1:compress=int8 4x1:gpipe:1:compress=powersgd:2; do
  steps=$((steps + 1))
  resume "$plan" $steps
  echo "ok: $plan continues"
done
