#!/usr/bin/env bash
# Installs all dependencies for building, testing and running dtc on Debian 12. It is safe to run again: it returns at once if
# nothing is missing.
#
# --cuda also downloads the build dependencies of programs for NVIDIA GPUs from PyPI into build/cuda: ptxas, and the headers of CUDA,
# cuBLASLt, cuDNN and NCCL. A machine with a CUDA toolkit does not need it.
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(
  clang-22 clang-format-22 clang-tidy-22 libclang-rt-22-dev lld-22 llvm-22-dev llvm-22-tools libmlir-22-dev mlir-22-tools
  cmake ninja-build ccache help2man zsh
  libonnx-dev libprotobuf-dev protobuf-compiler libonnx-testdata
  libdnnl-dev libgloo-dev libopenmpi-dev openmpi-bin libxxhash-dev
  nlohmann-json3-dev libcli11-dev libgtest-dev libboost-context-dev iproute2 procps
  libturbojpeg0-dev libpng-dev zlib1g-dev libpcre2-dev
)
# All are of one CUDA release: headers, then the assembler.
wheels=(
  nvidia-cuda-runtime==13.0.96 nvidia-cuda-crt==13.0.88 nvidia-cublas==13.1.0.3 nvidia-cudnn-cu13==9.19.0.56
  nvidia-nccl-cu13==2.28.9 nvidia-cuda-nvcc==13.0.88
)

cuda=
case "${1:-}" in
  "") ;;
  --cuda) cuda=build/cuda; packages+=(python3-pip unzip) ;;
  *) echo "usage: tools/setup.sh [--cuda]" >&2; exit 2 ;;
esac

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
  sudo=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { echo "setup.sh: needs root to install: ${missing[*]}" >&2; exit 1; }
    sudo=(sudo)
  fi
  echo "setup.sh: installing ${missing[*]}"
  "${sudo[@]}" apt-get update -qq
  DEBIAN_FRONTEND=noninteractive "${sudo[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

[ -n "$cuda" ] && [ ! -e "$cuda/complete" ] || exit 0
# The folder is complete or absent. It omits the libraries of the wheels, which are most of their size.
echo "setup.sh: downloading ${wheels[*]} into $cuda"
mkdir -p build
new=$(mktemp -d build/cuda-XXXXXX)
trap 'rm -rf "$new"' EXIT
mkdir -p "$new/include" "$new/bin"
for wheel in "${wheels[@]}"; do
  python3 -m pip download -q --no-deps --disable-pip-version-check -d "$new" "$wheel"
  unzip -q -o "$new"/*.whl '*/include/*' '*/bin/ptxas' -d "$new/wheel" 2>/dev/null || [ $? -eq 11 ]
  rm "$new"/*.whl
done
find "$new/wheel" -type d -name include -exec cp -r {}/. "$new/include" \;
find "$new/wheel" -name ptxas -exec install {} "$new/bin" \;
rm -rf "$new/wheel"
touch "$new/complete"
rm -rf "$cuda"
mv "$new" "$cuda"
