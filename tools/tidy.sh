#!/usr/bin/env bash
# Runs the checks of .clang-tidy with the compile commands and the precompiled headers of a finished build/release. Without
# arguments, it checks the sources that differ from BASE (main, origin/main or the commit before). For a header that differs, it
# checks the first source that includes the header. --all checks everything, in about half an hour of one core.
#
# usage: [BASE=COMMIT] tools/tidy.sh [--all | FILE...]
set -euo pipefail
cd "$(dirname "$0")/.."

[ -f build/release/compile_commands.json ] || { echo "tidy.sh: found no build/release; run cmake --preset release and cmake --build --preset release" >&2; exit 2; }
folders=(lib python-free-frontend tools unittests test bench)

changed() {
  local base=${BASE:-} name
  for name in main origin/main HEAD~1; do
    # On main itself, the base is the commit before.
    [ -n "$base" ] || base=$(git merge-base HEAD "$name" 2>/dev/null | grep -v "$(git rev-parse HEAD)" || true)
  done
  if [ -z "$base" ]; then
    echo "tidy.sh: found no earlier commit to compare with, so it checks nothing; name one with BASE=COMMIT, or use --all" >&2
    return
  fi
  git diff --name-only --diff-filter=d "$base" -- '*.cpp' '*.h'
  git ls-files --others --exclude-standard -- '*.cpp' '*.h'
}

case "${1:-}" in
  --all) mapfile -t files < <(find "${folders[@]}" -name '*.cpp') ;;
  "") mapfile -t files < <(changed) ;;
  -*) echo "usage: [BASE=COMMIT] tools/tidy.sh [--all | FILE...]" >&2; exit 2 ;;
  *) files=("$@") ;;
esac

# Each source that the build compiles, once.
sources=()
for file in "${files[@]}"; do
  if [[ $file == *.h ]]; then
    file=$(grep -rlE --include='*.cpp' "#include [\"<](.*/)?$(basename "$file")[\">]" "${folders[@]}" | head -n 1 || true)
  fi
  if [ -n "$file" ] && grep -qF "/$file\"" build/release/compile_commands.json; then
    sources+=("$file")
  fi
done
[ ${#sources[@]} -gt 0 ] || { echo "tidy.sh: no sources to check"; exit 0; }
mapfile -t sources < <(printf '%s\n' "${sources[@]}" | sort -u)

echo "tidy.sh: ${#sources[@]} sources"
printf '%s\n' "${sources[@]}" |
  xargs -P "${JOBS:-$(nproc)}" -n 1 clang-tidy-22 --quiet -p build/release 2> >(grep -vE 'warnings? (generated|treated)|Suppressed' >&2)
