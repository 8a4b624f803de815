#!/usr/bin/env bash
# Writes a safetensors file of two f32 tensors with one element each. The
# elements are little-endian bytes in printf's escapes.
#
# usage: two-numbers.sh FILE MASK BIAS

header='{"mask":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},'
header+='"bias":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}'
printf "\\$(printf %o ${#header})\\0\\0\\0\\0\\0\\0\\0%s$2$3" "$header" > "$1"
