#!/usr/bin/env bash
# usage: dtc-data-outputs.sh TOKENIZER DIRECTORY: ends dtc-data in many ways. Afterwards there must be the old folder or a
# complete new one, and nothing else. Prints violations.
set -uo pipefail
tokenizer=$1
rm -rf "$2" && mkdir -p "$2/out" && cd "$2" || exit 1

bad() { echo "wrong: $*"; }
# check AFTER_WHAT: checks that there is only the old folder, and one line in the log.
check() {
  [ "$(ls -A out)" = data ] || bad "$1 leaves" $(ls -A out)
  [ "$(ls -A out/data)" = mine.npy ] || bad "$1 changes the old folder"
  [ "$(grep -c . log)" = 1 ] || bad "$1 says: $(cat log)"
}
mkdir out/data
touch out/data/mine.npy

# Signals during the tokenization of a text, which takes minutes.
seq 12000000 >long
for signal in INT:130 TERM:143 HUP:129; do
  timeout --preserve-status -k 10 -s "${signal%:*}" 1.5 dtc-data text long --tokenizer "$tokenizer" -o out/data --force >log 2>&1
  status=$?
  [ $status = "${signal#*:}" ] || bad "SIG${signal%:*} ends dtc-data with status $status"
  grep -q '^dtc-data: error: stopped by a signal$' log || bad "SIG${signal%:*}: $(cat log)"
  check "SIG${signal%:*}"
done
# Under nohup, dtc-data ignores SIGHUP.
(trap '' HUP; exec dtc-data text long --tokenizer "$tokenizer" -o out/data --force) >log 2>&1 &
sleep 1
kill -HUP $!
sleep 0.2
kill -TERM $!
wait $!
status=$?
[ $status = 143 ] || bad "SIGHUP that is ignored ends dtc-data with status $status"
check "SIGHUP that is ignored"

# A full disk.
head -c 100000 long >text
(ulimit -f 32; dtc-data text text -o out/data --force >log 2>&1)
status=$?
[ $status = 1 ] || bad "a file that grows too large ends dtc-data with status $status"
grep -q "^dtc-data: error: cannot write 'out/data.*/tokens.npy': File too large$" log || bad "a file that grows too large: $(cat log)"
check "a file that grows too large"
if mkdir small && mount -t tmpfs -o size=64k tmpfs small 2>/dev/null; then
  dtc-data text text -o small/data >log 2>&1 && bad "a full disk is no error"
  grep -q "^dtc-data: error: cannot write 'small/data.*/tokens.npy': No space left on device$" log || bad "a full disk: $(cat log)"
  [ -z "$(ls -A small)" ] || bad "a full disk leaves" $(ls -A small)
  umount small
fi

# Permissions are those of umask.
(umask 027; dtc-data text text -o out/data --force --valid 0.1 >log)
[ "$(ls -A out)" = data ] || bad "--force leaves" $(ls -A out)
modes=$(stat -c %a out/data out/data/tokens.npy out/data/valid out/data/valid/tokens.npy | tr '\n' ' ')
[ "$modes" = "750 640 750 640 " ] || bad "permissions are $modes"
(umask 002; dtc-data text text -o out/data --force >log)
[ "$(stat -c %a out/data)" = 775 ] || bad "permissions are $(stat -c %a out/data)"
rm -f long text
echo "done"
