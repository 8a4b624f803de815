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

check gpt2-every gpt2-tiny $dp --sync every:5,outer=nesterov:0.7:0.9
check gpt2-every gpt2-tiny 4x1x2:gpipe:1 --sync every:5,outer=nesterov:0.7:0.9
check gpt2-ring gpt2-tiny $dp --sync gossip:ring

expect_all
