#!/usr/bin/env bash
# usage: outputs.sh MODEL DIRECTORY: ends compilations in many ways. Afterwards there must be the old output or a complete new one,
# and nothing else. Prints violations.
set -uo pipefail
model=$1
rm -rf "$2" && mkdir -p "$2" && cd "$2" || exit 1
mkdir out tmp
export TMPDIR=$PWD/tmp

compile=(dtc "$model" --batch 32)
bad() { echo "wrong: $*"; }

# Checks for other files in out/, and in $TMPDIR.
check_leftovers() { # AFTER_WHAT PROGRAM
  local left
  left=$(ls -A tmp; ls -A out | grep -vx "$2")
  [ -z "$left" ] || bad "$1 leaves" $left
  rm -rf tmp/* tmp/.??* out/.dtc-*
}

"${compile[@]}" -o out/t || bad "compilation failed"
cp out/t whole
./whole --help > help 2>&1 || bad "a program does not start"

# Checks that the output is old, or new and complete; $1 names the event.
check_program() {
  cmp -s out/t old || cmp -s out/t whole || bad "$1: the program is neither the old nor the new one"
  check_leftovers "$1" t
  cp old out/t
}
echo old > old
cp old out/t

# Files of the user beside the program.
echo weights > out/t.safetensors; echo object > out/t.o
"${compile[@]}" -o out/t || bad "compilation failed"
[ "$(cat out/t.safetensors out/t.o)" = "$(printf 'weights\nobject')" ] || bad "files beside the program are overwritten"
rm -f out/t.safetensors out/t.o
check_program "a compilation"

# Signals, at moments from the start to after the end.
for signal in TERM INT HUP; do
  for delay in 0.02 0.05 0.1 0.2 0.3 0.5 0.7 1 1.5; do
    timeout -s "$signal" "$delay" "${compile[@]}" -o out/t 2> /dev/null
    check_program "$signal after $delay s"
  done
done

# A pipe that nobody reads.
(sleep 0.2; "${compile[@]}" --help) | true
[ "${PIPESTATUS[0]}" = 74 ] || bad "a closed pipe is no error"
check_program "a closed pipe"

# A compilation under nohup continues.
nohup "${compile[@]}" -o out/t > log 2>&1 & pid=$!
sleep 0.2
kill -HUP $pid
wait $pid || bad "a hangup ends what nohup started: $(cat log)"
cmp -s out/t whole || bad "what nohup started writes no program"
check_program "nohup"

# A linker that continues after its driver is dead.
mkdir bin
cat > bin/clang++-22 <<'END'
#!/bin/sh
for name; do :; done
touch linking
sh -c "sleep 2; echo late > '$name'"
END
chmod +x bin/clang++-22
PATH=$PWD/bin:$PATH "${compile[@]}" -o out/t & pid=$!
for _ in $(seq 600); do [ -e linking ] && break; sleep 0.1; done
[ -e linking ] || bad "the linker is not called"
kill -TERM $pid
wait $pid
[ $? = 143 ] || bad "a signal does not end dtc by that signal"
sleep 3
cmp -s out/t old || bad "a dead compilation's linker writes the program"
check_leftovers "a signal while linking" t

# SIGKILL leaves files. The next compilation removes them, but keeps files of a running one.
printf '#!/bin/sh\ntouch linking\nexec sleep 20\n' > bin/clang++-22
start_linking() { # sets pid, when the linker runs
  rm -f linking
  PATH=$PWD/bin:$PATH "${compile[@]}" -o out/t & pid=$!
  for _ in $(seq 600); do [ -e linking ] && break; sleep 0.1; done
}
start_linking
kill -KILL $pid
wait $pid 2> /dev/null
[ -n "$(ls -A tmp)" ] && [ -n "$(ls -A out | grep '^\.dtc-')" ] || bad "SIGKILL leaves nothing: the test has no meaning"
start_linking
[ "$(ls -A tmp out | grep -c "dtc-.*-$pid-")" = "$(ls -A tmp out | grep -c dtc-)" ] || bad "files of a dead compilation stay:" $(ls -A tmp out)
before=$(ls -A tmp out)
"${compile[@]}" --stop-after=schedule --report-json out/r && rm out/r
[ "$(ls -A tmp out)" = "$before" ] || bad "files of a running compilation are removed"
kill -TERM $pid
wait $pid
check_program "SIGKILL"

# A linker that fails.
printf '#!/bin/sh\nfor name; do :; done\necho partial > "$name"; echo no such symbol; exit 3\n' > bin/clang++-22
PATH=$PWD/bin:$PATH "${compile[@]}" -o out/t 2> log && bad "a failed link is no error"
grep -q "^dtc: error: linking out/t failed: .* exited with code 3 (no such symbol)$" log || bad "a failed link: $(cat log)"
check_program "a failed link"

# A full disk: for the weights, for the object, for the program.
for limit in 0 1 64 1000; do
  (ulimit -f $limit; "${compile[@]}" -o out/t 2>&1) | grep -v ": note: " > log
  [ "${PIPESTATUS[0]}" = 1 ] || bad "a limit of $limit KiB is no error"
  [ "$(grep -c . log)" = 1 ] && grep -q "^dtc: error: " log || bad "a limit of $limit KiB: $(cat log)"
  check_program "a limit of $limit KiB"
done
if mkdir small && mount -t tmpfs -o size=1m tmpfs small 2> /dev/null; then
  echo old > small/t
  "${compile[@]}" -o small/t 2> log && bad "a full disk is no error"
  [ "$(grep -vc ": note: " log)" = 1 ] || bad "a full disk: $(cat log)"
  head -c 2M /dev/zero > small/filling 2> /dev/null
  "${compile[@]}" --stop-after=lower -o small/t 2> log && bad "a full disk is no error for IR"
  grep -q "^dtc: error: cannot write 'small/t': No space left on device$" log || bad "a full disk: $(cat log)"
  [ "$(cat small/t)" = old ] || bad "a full disk loses the old program"
  left=$(ls -A small | grep -vx -e t -e filling)
  [ -z "$left" ] || bad "a full disk leaves" $left
  umount small
fi

# Three compilations at once, each time with all their outputs.
for _ in 1 2; do
  for _ in 1 2 3; do
    "${compile[@]}" --weights external -o out/t --report-json out/r --timeline out/s.json --graph out/g.svg --dump-dir out/d &
  done
  wait
  ./out/t --data synthetic --steps 1 > log 2>&1 || bad "three compilations at once leave a broken program: $(cat log)"
  left=$(ls -A tmp out | grep -vx -e t -e t.safetensors -e r -e s.json -e g.svg -e d -e '' -e 'tmp:' -e 'out:')
  [ -z "$left" ] || bad "three compilations leave" $left
done

# A new file has the permissions that a linker and a shell would give it.
rm -rf out/*
(umask 027; "${compile[@]}" -o out/t --report-json out/r)
[ "$(stat -c %a out/t out/r | tr '\n' ' ')" = "750 640 " ] || bad "permissions are $(stat -c %a out/t out/r)"
# A read-only file stays, except for root, who may write it.
chmod 444 out/r
"${compile[@]}" --stop-after=schedule --report-json out/r 2> log
[ "$(id -u)" = 0 ] || grep -q "^dtc: error: cannot write 'out/r': Permission denied$" log || bad "a read-only file: $(cat log)"

# Names with a special meaning for an assembler or a linker.
odd="out/it's \"a\" \\b @c -d,e"
"${compile[@]}" -o "$odd" && "./$odd" --data synthetic --steps 1 > log 2>&1 || bad "odd names: $(cat log)"
mkdir @folder
"${compile[@]}" -o @folder/t && cmp -s @folder/t whole || bad "folders with @"
long=out/$(printf 'x%.0s' $(seq 250))
"${compile[@]}" -o "$long" || bad "long names"

# A link stays one, and dtc writes the file that it names, even if the file does not exist.
rm -rf out/*
mkdir disk
ln -s ../disk/program out/t
for _ in there new; do
  "${compile[@]}" -o out/t && cmp -s disk/program whole && [ -L out/t ] || bad "symbolic links"
done
ln -s loop loop
"${compile[@]}" --stop-after=schedule --report-json loop 2> all && bad "a loop of links"
[ "$(grep -v ": note: " all)" = "dtc: error: cannot write 'loop': Too many levels of symbolic links" ] || bad "a loop: $(cat all)"

# Devices and pipes.
"${compile[@]}" -o /dev/null && "${compile[@]}" --stop-after=schedule --report-json /dev/null || bad "/dev/null"
[ -c /dev/null ] || bad "/dev/null is replaced"
"${compile[@]}" --stop-after=schedule --report-json /dev/full 2> all && bad "/dev/full is no error"
[ "$(grep -v ": note: " all)" = "dtc: error: cannot write '/dev/full': No space left on device" ] || bad "/dev/full: $(cat all)"
"${compile[@]}" --stop-after=schedule --report-json /dev/stdout | grep -q '"ranks"\|{' || bad "/dev/stdout as a pipe"
"${compile[@]}" --stop-after=schedule --report-json /dev/stdout > redirected && [ -s redirected ] || bad "/dev/stdout as a file"
"${compile[@]}" --stop-after=schedule --report-json - > dash && cmp -s dash redirected || bad "- as a file"

# dtc-model replaces both of its files, or none.
make=(dtc-model mlp --layers 1 --width 64 --weights normal --external-data)
cp old model.onnx; cp old model.onnx.data
(ulimit -f 2; "${make[@]}" -o model.onnx 2>&1) | cat > log
[ "$(cat model.onnx model.onnx.data log | sort -u)" = "$(printf "dtc-model: error: cannot write 'model.onnx.data': File too large\nold")" ] ||
  bad "dtc-model loses files: $(cat log)"
"${make[@]}" -o model.onnx > log && dtc model.onnx --batch 4 --stop-after=schedule || bad "dtc-model"
left=$(ls -A | grep '^\.dtc')
[ -z "$left" ] || bad "dtc-model leaves" $left
echo done
