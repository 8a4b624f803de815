#!/usr/bin/env bash
# Runs two "machines": network namespaces with separate addresses and one link. Ranks
# of both must train like ranks of one machine, under mpirun and under a launcher
# without MPI. Then the script cuts the link during the training. Both sides must end
# by themselves and name the call in which they waited: after --timeout in a step,
# after ten times as long in the vote between two steps (docs/Launching.md). Needs the
# right to make namespaces.
#
# usage: network.sh WORKDIR

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

work=$1 model=mlp-digits plan=2x2:1f1b:4
rm -rf "$work"
mkdir -p "$work"
here=dtc-$$-a there=dtc-$$-b
trap 'ip netns pids $here 2>/dev/null | xargs -r kill -9
      ip netns pids $there 2>/dev/null | xargs -r kill -9
      ip netns del $here 2>/dev/null; ip netns del $there 2>/dev/null || true' EXIT

ip netns add $here
ip netns add $there
ip link add dtc-a netns $here type veth peer name dtc-b netns $there
ip -n $here address add 10.77.0.1/24 dev dtc-a
ip -n $there address add 10.77.0.2/24 dev dtc-b
ip -n $here link set lo up
ip -n $there link set lo up
ip -n $here link set dtc-a up
ip -n $there link set dtc-b up

# on MACHINE COMMAND...: runs a command with the name of that machine.
on() {
  local machine=$1
  shift
  ip netns exec "$machine" unshare --uts bash -c \
    'hostname "$0" && exec "$@"' "$machine" "$@"
}

# mpirun calls this instead of ssh: agent HOST COMMAND.
cat >"$work/agent" <<END
#!/usr/bin/env bash
shift
exec ip netns exec $there unshare --uts bash -c 'hostname $there; eval "\$*"' - "\$@"
END
chmod +x "$work/agent"

by_mpirun() {
  on $here mpirun --bind-to none --host 10.77.0.1:2,10.77.0.2:2 -n 4 \
    --mca plm_rsh_agent "$work/agent" --mca oob_tcp_if_include 10.77.0.0/24 \
    --mca btl_tcp_if_include 10.77.0.0/24 \
    "$work/t" --data "$inputs/$model.data" "$@"
}

# side MACHINE FIRST-RANK OPTION...: starts two ranks.
side() {
  local machine=$1 first=$2 rank status=0 started=()
  shift 2
  for rank in 0 1; do
    RANK=$((first + rank)) WORLD_SIZE=4 LOCAL_RANK=$rank LOCAL_WORLD_SIZE=2 \
      MASTER_ADDR=10.77.0.1 MASTER_PORT=29500 TORCHELASTIC_RUN_ID=$$ \
      TORCHELASTIC_RESTART_COUNT=0 on "$machine" \
      "$work/t" --data "$inputs/$model.data" "$@" &
    started+=($!)
  done
  for process in "${started[@]}"; do
    wait "$process" || status=$?
  done
  return $status
}

by_launcher() { # both sides in one log
  local status=0 other
  side $there 2 "$@" 2>&1 &
  other=$!
  side $here 0 "$@" || status=$?
  wait $other || status=$?
  return $status
}

compile $model $plan f32 sgd "$work/t"
train $model $plan "$work/t" --steps 5 --save-weights "$work/one-machine"

for launcher in by_launcher by_mpirun; do
  echo "== $launcher"
  run "$work/$launcher.log" $launcher --steps 5 --save-weights "$work/$launcher"
  dtc-compare tensors "$work/$launcher" "$work/one-machine" --tolerance 1e-6

  timeout=5
  : >"$work/cut.log" # removes the output of the launcher before
  $launcher --steps 100000000 --log-every 100 --timeout $timeout \
    >"$work/cut.log" 2>&1 &
  job=$!
  until grep -qE 'step +100/' "$work/cut.log"; do
    kill -0 $job || { cat "$work/cut.log"; exit 1; }
    sleep 0.1
  done
  ip -n $there link set dtc-b down
  # The ranks of both sides end. mpirun itself waits for the other side as long
  # as the system tries to reach it, a quarter of an hour.
  start=$SECONDS
  while pgrep -f "^$work/t " >/dev/null; do
    if [ $((SECONDS - start)) -gt $((11 * timeout)) ]; then
      cat "$work/cut.log"
      echo "ERROR: ranks are left: $(pgrep -af "^$work/t ")"
      exit 1
    fi
    sleep 0.2
  done
  # Under mpirun, the line of the other side is lost with the link.
  if [ $launcher = by_launcher ] && [ $((SECONDS - start)) -gt $((3 * timeout)) ] &&
    ! grep -q "waited $((10 * timeout)) s for" "$work/cut.log"; then
    cat "$work/cut.log"
    echo "ERROR: ranks ended after $((SECONDS - start)) s of a step"
    exit 1
  fi
  start=$SECONDS # mpirun forwards the last output of ranks
  until grep -qE 'rank [0-9] .*error: ' "$work/cut.log"; do
    if [ $((SECONDS - start)) -gt $((2 * timeout)) ]; then
      cat "$work/cut.log"
      echo "ERROR: no line about the cut"
      exit 1
    fi
    sleep 0.2
  done
  pkill -9 -P $job || true
  for machine in $here $there; do
    ip netns pids $machine | xargs -r kill -9 || true # some end by themselves
  done
  if wait $job; then
    echo "ERROR: the cut job succeeded"
    exit 1
  fi
  ip -n $there link set dtc-b up
done
