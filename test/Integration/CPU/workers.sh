#!/usr/bin/env bash
# Compares workers that train apart with a simulation (make_workers.py): losses and norms
# are those of the first worker, weights are the mean of all.
#
# usage: workers.sh WORKDIR CASE...

source "$(dirname "${BASH_SOURCE[0]}")/simulation.sh"
reference=$inputs/workers.json

digits() {
  check "$1" mlp-digits "$2" --sync "$3"
}
digits every $dp every:5
digits every 4x2:gpipe:1 every:5
digits every-nesterov $dp every:5,outer=nesterov:0.7:0.9
digits every-nesterov 4x2:1f1b:1 every:5,outer=nesterov:0.7:0.9
digits every-fragments $dp every:4,fragments=2
digits ring $dp gossip:ring
digits ring 4x2:gpipe:1 gossip:ring
digits torus $dp gossip:torus
digits exponential $dp gossip:exponential
digits one-peer $dp gossip:one-peer

# Four workers and a server, in the order of a file.
serve() {
  check "$1" "$2" "$3" "${@:4}" -- --replay-arrivals "$inputs/arrivals-$1.txt"
}
served=5x1:gpipe:1
serve async mlp-digits $served --sync async:2
serve async mlp-digits 5x2:1f1b:1 --sync async:2
serve async-staleness mlp-digits $served --sync async:4,rate=staleness --clip-norm 0.5
serve async-staleness mlp-digits 5x2:gpipe:2 --sync async:4,rate=staleness --clip-norm 0.5
serve gpt2-async gpt2-tiny $served --sync async:1
serve gpt2-async gpt2-tiny 5x1x2:gpipe:1 --sync async:1

check gpt2-every gpt2-tiny $dp --sync every:5,outer=nesterov:0.7:0.9
check gpt2-every gpt2-tiny 4x1x2:gpipe:1 --sync every:5,outer=nesterov:0.7:0.9
check gpt2-ring gpt2-tiny $dp --sync gossip:ring

expect_all
