#!/usr/bin/env bash
# usage: tools/package-check.sh [FILE.deb]
#
# Installs the Debian package in a clean Debian 12 with only its dependencies. Compiles and trains the README's example there. Then
# removes the package and looks for remaining files. Without FILE.deb, `cpack -G DEB` makes one in build/release, which must be built.
#
# Needs root, debootstrap, and apt sources with Debian 12 and its security updates; the clean system uses them, too. Takes some
# minutes and about 3 GB in ROOT. The default is a temporary folder, which the script removes at the end. The script keeps a folder
# that the caller names, and uses it again.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() { echo "package-check.sh: $*" >&2; exit 1; }
[ "$(id -u)" -eq 0 ] || fail "needs root, for debootstrap and chroot"
command -v debootstrap >/dev/null || fail "found no debootstrap; install it: apt-get install debootstrap"

package=${1:-}
if [ -z "$package" ]; then
  (cd build/release && cpack -G DEB >cpack.log) || fail "cpack failed; see build/release/cpack.log"
  package=$(ls -t build/release/dtc_*.deb | head -1)
fi
[ -f "$package" ] || fail "found no $package"
echo "== $package"
dpkg-deb --field "$package" Version Depends Suggests Conflicts Installed-Size

# The apt sources that name Debian's archive.
mapfile -t sources < <(grep -lE '/debian(-security)?/?( |$)' /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null)
[ ${#sources[@]} -gt 0 ] || fail "found no source of apt with Debian's archive"
mirror=$(grep -ohE 'https?://[^ ]*/debian/?( |$)' "${sources[@]}" | head -1 | tr -d ' ')

root=${ROOT:-$(mktemp -d)}
mkdir -p "$root"
chmod 755 "$root" # apt downloads as _apt
cleanup() {
  for folder in proc sys dev/shm dev/pts; do
    umount "$root/$folder" 2>/dev/null || true
  done
  [ -n "${ROOT:-}" ] || rm -rf --one-file-system "$root"
}
trap cleanup EXIT

if [ ! -e "$root/complete" ]; then
  echo "== debootstrap into $root"
  debootstrap --variant=minbase bookworm "$root" "$mirror" >"$root.log" || fail "debootstrap failed; see $root.log"
  rm -f "$root/etc/apt/sources.list"
  cp "${sources[@]}" "$root/etc/apt/sources.list.d/"
  mkdir -p "$root/usr/share/keyrings" "$root/etc/apt/keyrings"
  cp /usr/share/keyrings/debian-* "$root/usr/share/keyrings/"
  rm -f "$root.log"
  touch "$root/complete"
fi
mkdir -p "$root/dev/shm" "$root/dev/pts"
mount -t proc proc "$root/proc"
mount -t sysfs -o ro sysfs "$root/sys"
mount -t tmpfs tmpfs "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
cp /etc/resolv.conf "$root/etc/resolv.conf"
inside() {
  chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive \
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_NUM_THREADS=1 "$@"
}
# Excludes the state of apt and dpkg, and generated caches.
list_files() {
  (cd "$root" && find . -xdev \( -path ./proc -o -path ./sys -o -path ./dev -o -path ./tmp -o -path ./root/example -o -path ./var/cache \
    -o -path ./var/log -o -path './var/lib/apt' -o -path './var/lib/dpkg' \) -prune -o -print | sort)
}

inside apt-get update -qq
# The dependencies stay installed, so that only files of the package itself can remain.
mapfile -t depends < <(dpkg-deb --field "$package" Depends | tr ',' '\n' | sed -E 's/^ *//; s/ *\|.*//; s/ *\(.*//' | sort -u)
echo "== installing ${depends[*]}"
inside apt-get install -y -qq --no-install-recommends "${depends[@]}" >/dev/null
list_files >"$root/tmp/before"
echo "== installing the package"
cp "$package" "$root/tmp/"
inside apt-get install -y -qq --no-install-recommends "/tmp/$(basename "$package")" >/dev/null
inside dtc --version
inside ldd /usr/bin/dtc | grep 'not found' && fail "a library of dtc is missing"

echo "== the example"
rm -rf "$root/root/example"
mkdir -p "$root/root/example"
cp -r test/Inputs/gpt2-tiny.onnx test/Inputs/gpt2-tiny.data "$root/root/example/"
inside sh -euc 'cd /root/example
  dtc gpt2-tiny.onnx --dp 2 --batch 32 --loss cross-entropy --optimizer adamw -o gpt2.train
  ./gpt2.train --version
  mpirun --oversubscribe -n 2 ./gpt2.train --data gpt2-tiny.data --steps 5 --save-weights gpt2.safetensors
  test -s gpt2.safetensors'

echo "== removing the package"
inside apt-get purge -y -qq dtc >/dev/null
left=$(list_files | comm -13 "$root/tmp/before" -)
[ -z "$left" ] || fail "left behind: $left"
echo "package-check.sh: $(basename "$package") installs, compiles, trains and leaves nothing behind"
