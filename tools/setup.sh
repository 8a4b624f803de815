#!/usr/bin/env bash
# Installs everything that building, testing and running dtc needs on Debian 12. Safe to run again: it returns at once when
# nothing is missing.
set -euo pipefail

packages=(
  clang-22 clang-format-22 clang-tidy-22 libclang-rt-22-dev lld-22 llvm-22-dev llvm-22-tools libmlir-22-dev mlir-22-tools
  cmake ninja-build ccache
  libonnx-dev libprotobuf-dev protobuf-compiler libonnx-testdata
  libdnnl-dev libopenmpi-dev openmpi-bin
  nlohmann-json3-dev libcli11-dev libgtest-dev libboost-context-dev
)

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

sudo=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "setup.sh: needs root to install: ${missing[*]}" >&2; exit 1; }
  sudo=(sudo)
fi
echo "setup.sh: installing ${missing[*]}"
"${sudo[@]}" apt-get update -qq
DEBIAN_FRONTEND=noninteractive "${sudo[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
