# Continues trainings of mlp-digits from checkpoints. Sourced with the argument WORKDIR of
# the driver.

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

work=$1 model=mlp-digits
rm -rf "$work"
mkdir -p "$work"

# resume PLAN STEPS: continues $folder to STEPS with the program of a plan, and saves the
# weights beside it.
resume() {
  local optimizer=adamw
  case $1 in *dgc:*) optimizer=sgd ;; esac
  [ -e "$work/${1//:/-}" ] || compile $model "$1" f32 $optimizer "$work/${1//:/-}"
  train $model "$1" "$work/${1//:/-}" --steps "$2" --checkpoint-dir "$folder" --resume \
    --save-weights "$folder.safetensors"
}

# has_same_bits PLAN: compares a training of eight steps with one that is resumed after
# the third.
has_same_bits() {
  rm -rf "$work/whole" "$work/parts"
  folder=$work/whole
  resume "$1" 8
  folder=$work/parts
  resume "$1" 3
  resume "$1" 8
  cmp "$work/whole.safetensors" "$work/parts.safetensors"
  echo "ok: $1"
}
