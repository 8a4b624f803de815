#!/usr/bin/env bash
# Checks that the losses are the same for all forms of the data, plans and depths of
# reading ahead.
#
# usage: data.sh tokens|images WORKDIR

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

work=$2
rm -rf "$work"
mkdir -p "$work"

# losses NAME PLAN OPTION...: records those of four steps and of an evaluation.
losses() {
  local name=$1 plan=$2
  shift 2
  run "$work/log" "$work/${plan//[^a-z0-9]/-}" --nproc "$(ranks_of "$plan")" --steps 4 --lr 0.1 --eval-every 4 \
    --metrics "$work/$name.jsonl" "$@"
  grep -oE '"(loss|eval_loss)": *[^,}]+' "$work/$name.jsonl" >"$work/$name.losses"
}

# same NAME OTHER [TOLERANCE]: checks that the losses agree, by default to the bit.
same() {
  if paste "$work/$1.losses" "$work/$2.losses" | awk -v most="${3:-0}" '
      { d = $2 - $4; if (!($1 == $3 && d <= most && d >= -most)) bad = 1 }
      END { exit bad || NR != 5 }'; then
    echo "same: $1 and $2"
  else
    echo "differ: $1 and $2"
    paste "$work/$1.losses" "$work/$2.losses"
  fi
}

tokens() {
  batch=32
  for plan in 1x1:1f1b:1 2x2:1f1b:2; do
    compile gpt2-tiny "$plan" f64 sgd "$work/${plan//[^a-z0-9]/-}"
  done
  # The arrays and the stream are one text, cut into sequences of 128.
  for part in "" /valid; do
    mkdir -p "$work/shards$part"
    { tail -c +129 "$inputs/gpt2-tiny.data$part/input_ids.npy"
      tail -c 1 "$inputs/gpt2-tiny.data$part/labels.npy"; } >"$work/text"
    dtc-data text "$work/text" -o "$work/stream$part" >/dev/null
    # The same in shards. The first shard ends within a sequence.
    head -c 100001 "$work/text" >"$work/first"
    tail -c +100002 "$work/text" >"$work/second"
    if [ -n "$part" ]; then cp "$work/text" "$work/first"; : >"$work/second"; fi
    number=0
    for piece in first second; do
      [ -s "$work/$piece" ] || continue
      dtc-data text "$work/$piece" -o "$work/piece" --force >/dev/null
      mv "$work/piece/tokens.npy" "$work/shards$part/tokens-00$((number++)).npy"
    done
  done
  losses arrays 1x1:1f1b:1 --data "$inputs/gpt2-tiny.data"
  losses stream 1x1:1f1b:1 --data "$work/stream"
  same arrays stream
  losses shards 1x1:1f1b:1 --data "$work/shards" --prefetch 0
  same arrays shards
  losses plan 2x2:1f1b:2 --data "$work/shards"
  same arrays plan 1e-9
}

# idx FILE SIZE...: the header of an idx file, sizes up to 255.
idx() {
  local file=$1 header="\\0\\0\\x8\\x$(($# - 1))"
  shift
  for size in "$@"; do
    header+=$(printf '\\0\\0\\0\\x%x' "$size")
  done
  printf "$header" >"$file"
}

images() {
  batch=32
  for plan in 1x1:1f1b:1 2x1:1f1b:2 1x2:1f1b:2; do
    compile convnet-digits "$plan" f64 sgd "$work/${plan//[^a-z0-9]/-}"
  done
  # 96 images of 10 x 9 whose pixels are the letters of the licence, with labels of ten classes.
  local labels=
  for i in $(seq 0 95); do
    labels+="\\x0$((i * 7 % 10))"
  done
  mkdir "$work/idx"
  for part in train t10k; do
    idx "$work/idx/$part-images-idx3-ubyte" 96 10 9
    head -c $((96 * 90)) "$inputs/../../LICENSE" >>"$work/idx/$part-images-idx3-ubyte"
    idx "$work/idx/$part-labels-idx1-ubyte" 96
    printf "$labels" >>"$work/idx/$part-labels-idx1-ubyte"
  done
  dtc-data mnist "$work/idx" -o "$work/data" >/dev/null
  transform='scale, crop(8,1), flip, normalize(0.3,0.2)'
  losses one 1x1:1f1b:1 --data "$work/data" --transform "$transform"
  losses again 1x1:1f1b:1 --data "$work/data" --transform "$transform" --prefetch 0
  same one again
  for plan in 2x1:1f1b:2 1x2:1f1b:2; do
    losses "$plan" "$plan" --data "$work/data" --transform "$transform"
    same one "$plan" 1e-9
  done
  losses seed 1x1:1f1b:1 --data "$work/data" --transform "$transform" --seed 1
  same one seed 1e-3 >"$work/seed"
  head -n 1 "$work/seed"
  # The same images, each with the label of the next.
  idx "$work/idx/train-labels-idx1-ubyte" 96
  printf "${labels:4}${labels:0:4}" >>"$work/idx/train-labels-idx1-ubyte"
  dtc-data mnist "$work/idx" -o "$work/shifted" >/dev/null
  losses labels 1x1:1f1b:1 --data "$work/shifted" --transform "$transform"
  same one labels 1e-3 >"$work/labels"
  head -n 1 "$work/labels"
}

"$1"
