#!/usr/bin/env bash
# Interrupts trainings in many ways and resumes them. The result must have the bits
# of an undisturbed training. Prints counts.
#
# usage: faults.sh WORKDIR KILLS FULL-DISKS DAMAGES [SEED]
#
# KILLS is the number of SIGKILLs of a random rank, of all, or of mpirun, at a random
# moment or during a checkpoint. FULL-DISKS need the right to mount a tmpfs; without
# it the script skips them. DAMAGES change the files of checkpoints.
set -euo pipefail

work=$1 kills=$2 disks=$3 damages=$4
RANDOM=${5:-1}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMP_NUM_THREADS=1
steps=120
options=(--data synthetic --steps $steps --seed 3 --lr 1e-3 --log-every 1000)

# Cleans up at the end.
trap 'for mount in "$work"/disk-*; do
        ! mountpoint -q "$mount" 2>/dev/null || umount -l "$mount"
      done' EXIT

die() {
  echo "ERROR: $*" >&2
  [ ! -f "${log:-}" ] || tail -n 20 "$log" >&2
  exit 1
}

# The plans: ranks, then options of dtc.
plans=("2 --dp 2" "2 --pp 2 --microbatches 4" "2 --tp 2" "2 --dp 2 --zero 3"
  "4 --dp 2 --pp 2 --zero 1 --microbatches 2")

choose() { # PLAN-NUMBER: sets $program, $ranks and $whole
  ranks=${plans[$1]%% *}
  program=$work/t$1
  whole=$work/whole-$1.safetensors
}

prepare() {
  rm -rf "$work"
  mkdir -p "$work"
  dtc-model mlp --layers 4 --width 192 -o "$work/mlp.onnx" >/dev/null
  local i
  for i in "${!plans[@]}"; do
    choose "$i"
    log=$work/compile.log
    # shellcheck disable=SC2086
    dtc "$work/mlp.onnx" --batch 16 --loss mse --optimizer adamw --init normal \
      ${plans[$i]#* } -o "$program" >"$log" 2>&1 || die "compiling ${plans[$i]}"
    log=$work/whole.log
    train --save-weights "$whole" >"$log" 2>&1 || die "training ${plans[$i]}"
  done
}

train() {
  mpirun --oversubscribe --bind-to none -n "$ranks" "$program" \
    "${options[@]}" "$@"
}

# ends PID: waits at most 20 s until a job has ended.
ends() {
  local tries
  for tries in $(seq 200); do
    kill -0 "$1" 2>/dev/null || return 0
    sleep 0.1
  done
  die "the job goes on after $tries tenths of a second"
}

# Checks that no rank remains. A rank that is no longer a member of the job has 10 s
# to end.
no_orphans() {
  local tries
  for tries in $(seq 100); do
    pgrep -f "^$program " >/dev/null || return 0
    sleep 0.1
  done
  die "ranks are left after $tries tenths of a second: $(pgrep -af "^$program ")"
}

# go_on FOLDER: resumes to the end and compares with the undisturbed training.
go_on() {
  log=$work/resumed.log
  train --checkpoint-dir "$1" --resume --save-weights "$work/resumed.safetensors" \
    >"$log" 2>&1 || die "going on with ${plans[$plan]}"
  cmp -s "$work/resumed.safetensors" "$whole" ||
    die "${plans[$plan]}: other weights than the undisturbed training"
  ls -d "$1"/*.tmp >/dev/null 2>&1 && die "$1 has files of a write that was broken off"
  rm -f "$work/resumed.safetensors"
}

#===-----------------------------------------------------------------------===#

kill_once() {
  local folder=$work/checkpoints job pids victim what
  rm -rf "$folder"
  log=$work/killed.log
  local async=()
  [ $((RANDOM % 2)) -eq 0 ] || async=(--checkpoint-async)
  train --checkpoint-dir "$folder" --checkpoint-every 5 "${async[@]}" \
    >"$log" 2>&1 &
  job=$!
  # The moment is random, or during the writing of a checkpoint.
  if [ $((RANDOM % 2)) -eq 0 ]; then
    local tries=0
    until ls -d "$folder"/*.tmp >/dev/null 2>&1 || ! kill -0 $job 2>/dev/null; do
      tries=$((tries + 1))
    done
    what=writing
  else
    sleep "$(printf '%d.%03d' $((RANDOM % 2)) $((RANDOM % 1000)))"
    what=any
  fi
  mapfile -t pids < <(pgrep -P $job)
  victim=$((RANDOM % 8))
  if [ ${#pids[@]} -eq 0 ] || [ $victim -eq 0 ]; then
    kill -9 $job 2>/dev/null || true
  elif [ $victim -eq 1 ]; then
    kill -9 "${pids[@]}" 2>/dev/null || true
  else
    kill -9 "${pids[$((RANDOM % ${#pids[@]}))]}" 2>/dev/null || true
  fi
  ends $job
  wait $job && finished=$((finished + 1)) || broken=$((broken + 1))
  no_orphans
  [ $what = any ] || writing=$((writing + 1))
  go_on "$folder"
}

can_mount() {
  mkdir "$work/disk-x"
  mount -t tmpfs tmpfs "$work/disk-x" 2>/dev/null && umount "$work/disk-x"
}

disk_once() {
  local folder=$work/disk-$1 size
  mkdir -p "$folder"
  # The size holds from less than one checkpoint to more than three.
  size=$((shard_bytes * (20 + RANDOM % 320) / 100 / 4096 + 4))
  mount -t tmpfs -o size=$((size * 4096)) tmpfs "$folder"
  log=$work/disk.log
  local async=()
  [ $((RANDOM % 2)) -eq 0 ] || async=(--checkpoint-async)
  if train --checkpoint-dir "$folder/c" --checkpoint-every 40 "${async[@]}" \
    >"$log" 2>&1; then
    fits=$((fits + 1))
  else
    grep -q "No space left on device" "$log" || die "no word of the full disk"
    [ "$(grep -c "error: .*No space left" "$log")" -eq 1 ] || die "more than one error"
    full=$((full + 1))
  fi
  no_orphans
  mount -o remount,size=256m "$folder"
  go_on "$folder/c"
  umount "$folder"
  rmdir "$folder"
}

# Damages files in the checkpoints of a training that stopped at the end.
damage_once() {
  local folder=$work/damaged newest file size kind
  log=$work/damaged.log
  rm -rf "$folder"
  cp -r "$work/checkpoints-$plan" "$folder"
  newest=$(ls -d "$folder"/step-* | tail -n 1)
  mapfile -t files < <(ls "$newest"/*)
  file=${files[$((RANDOM % ${#files[@]}))]}
  size=$(stat -c %s "$file")
  kind=$((RANDOM % 6))
  case $kind in
    0) truncate -s $((RANDOM * 32768 % size)) "$file" ;;
    1) rm "$file" ;;
    2) : >"$file" ;;
    3) # a bit
      local at=$(((RANDOM * 32768 + RANDOM) % size)) byte
      byte=$(od -An -tu1 -j $at -N 1 "$file")
      printf "\\x$(printf %x $((byte ^ (1 << RANDOM % 8))))" |
        dd of="$file" bs=1 seek=$at conv=notrunc status=none
      ;;
    4) head -c "$size" /dev/urandom >"$file" ;;
    5) # of another step
      cp "$(ls -d "$folder"/step-* | head -n 1)/${file##*/}" "$file" ;;
  esac
  go_on "$folder"
  grep -q "warning: the checkpoint .* is not used" "$log" ||
    die "$file, damage $kind: nothing said of it"
}

#===-----------------------------------------------------------------------===#

prepare
broken=0 finished=0 writing=0
for ((i = 0; i < kills; ++i)); do
  plan=$((i % ${#plans[@]}))
  choose $plan
  kill_once
done
[ "$kills" -eq 0 ] ||
  echo "kills: $kills ($writing while a checkpoint was written; $finished came too late), all go on to the same bits"

full=0 fits=0
if [ "$disks" -gt 0 ] && ! can_mount; then
  echo "full disks: left out, for a tmpfs cannot be mounted"
  disks=0
fi
for ((i = 0; i < disks; ++i)); do
  plan=$((i % ${#plans[@]}))
  choose $plan
  if [ "$i" -lt ${#plans[@]} ]; then
    log=$work/size.log
    train --checkpoint-dir "$work/size-$plan" >"$log" 2>&1 || die "training"
  fi
  shard_bytes=$(du -sb "$work/size-$plan" | cut -f1)
  disk_once "$i"
done
[ "$disks" -eq 0 ] ||
  echo "full disks: $disks ($fits had room enough), all go on to the same bits"

for ((i = 0; i < damages; ++i)); do
  plan=$((i % ${#plans[@]}))
  choose $plan
  if [ "$i" -lt ${#plans[@]} ]; then
    log=$work/checkpoints.log
    train --checkpoint-dir "$work/checkpoints-$plan" --checkpoint-every 40 >"$log" 2>&1 || die "training"
  fi
  damage_once
done
[ "$damages" -eq 0 ] ||
  echo "damaged checkpoints: $damages, all go on from an older one to the same bits"
