#!/usr/bin/env python3
"""Steps per second of four ranks on a slow network, by way to exchange.

usage: slow_network.py [--rate 100mbit] [--steps 41] [--batch 8] [--rounds 2]

Each rank runs in a network namespace of its own, with a link that `tc tbf`
limits in both directions. All links meet in a bridge. Prints, for each way to
exchange gradients or parameters, the mean step time after the first step, steps
per second relative to uncompressed gradients, and the bytes per step of the
report. The model is tests' gpt2-tiny. Needs root, iproute2, Open MPI, and dtc on
PATH.
"""

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

INPUTS = Path(__file__).resolve().parents[1] / "test" / "Inputs"
RANKS = 4
WAYS = ["none", "int8", "int4", "sign", "topk:0.01", "randk:0.01",
        "powersgd:4", "none --sync delayed:1", "int8 --sync delayed:1",
        "none --sync every:20", "none --sync gossip:ring",
        "none --sync gossip:one-peer", "none --sync async:4"]


ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1",
               "OMPI_ALLOW_RUN_AS_ROOT": "1",
               "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def ranks_of(way):
    """A server is a rank beside the workers."""
    return RANKS + ("async" in way)


def run(*command, **options):
    return subprocess.run([str(c) for c in command], check=True,
                          capture_output=True, text=True, **options)


@contextlib.contextmanager
def machines(rate):
    """Namespaces with addresses 10.78.0.1 to 4."""
    prefix = f"dtc-{os.getpid()}"
    names = [f"{prefix}-{i}" for i in range(RANKS)]
    hub = f"{prefix}-hub"
    try:
        run("ip", "netns", "add", hub)
        run("ip", "-n", hub, "link", "add", "bridge", "type", "bridge")
        run("ip", "-n", hub, "link", "set", "bridge", "up")
        for i, name in enumerate(names):
            run("ip", "netns", "add", name)
            run("ip", "link", "add", "eth", "netns", name, "type", "veth",
                "peer", "name", f"port{i}", "netns", hub)
            run("ip", "-n", hub, "link", "set", f"port{i}", "master", "bridge")
            run("ip", "-n", name, "address", "add", f"10.78.0.{i + 1}/24",
                "dev", "eth")
            for namespace, device in [(name, "eth"), (hub, f"port{i}")]:
                run("ip", "-n", namespace, "link", "set", device, "up")
                run("tc", "-n", namespace, "qdisc", "add", "dev", device,
                    "root", "tbf", "rate", rate, "burst", "256kb",
                    "latency", "400ms")
            run("ip", "-n", name, "link", "set", "lo", "up")
        yield names
    finally:
        for name in [*names, hub]:
            subprocess.run(["ip", "netns", "del", name], check=False,
                           capture_output=True)


def write_agent(folder, names):
    """A script that mpirun calls in place of ssh: agent HOST COMMAND."""
    hosts = "\n".join(f"10.78.0.{i + 1}) name={name};;"
                      for i, name in enumerate(names))
    agent = folder / "agent"
    agent.write_text(f"""#!/bin/bash
case $1 in
{hosts}
esac
shift
exec ip netns exec $name unshare --uts bash -c \\
  'hostname "$0"; eval "$*"' $name "$@"
""")
    agent.chmod(0o755)
    return agent


def compile_program(way, batch, folder):
    program = folder / way.replace(":", "-").replace(" ", "_")
    report = folder / "report.json"
    run("dtc", INPUTS / "gpt2-tiny.onnx", "--batch", batch, "--dp",
        ranks_of(way), "--compress", *way.split(), "--report-json", report, "-o", program)
    return program, json.loads(report.read_text())


def mean_step(metrics):
    """The mean time of a step after the first, in seconds."""
    times = [json.loads(line).get("seconds")
             for line in metrics.read_text().splitlines()]
    return statistics.mean([t for t in times if t][1:])


def measure(program, way, steps, names, agent, folder):
    """Seconds of a step. A server is on the machine of the first worker."""
    metrics = folder / "metrics.jsonl"
    metrics.unlink(missing_ok=True)
    ranks = ranks_of(way)
    hosts = ",".join(f"10.78.0.{i + 1}:{1 if i else ranks - RANKS + 1}"
                     for i in range(RANKS))
    run("ip", "netns", "exec", names[0], "unshare", "--uts", "bash", "-c",
        'hostname "$0" && exec "$@"', names[0],
        "mpirun", "--bind-to", "none", "--host", hosts, "-n", ranks,
        "--mca", "plm_rsh_agent", agent,
        "--mca", "oob_tcp_if_include", "10.78.0.0/24",
        "--mca", "btl_tcp_if_include", "10.78.0.0/24",
        program, "--data", INPUTS / "gpt2-tiny.data", "--steps", steps,
        "--threads", 1, "--metrics", metrics, env=ENVIRONMENT)
    return mean_step(metrics)


def bytes_sent(report):
    """Bytes that a rank sends in a step if each collective is a ring, or that a
    worker pushes."""
    share = (RANKS - 1) / RANKS
    passes = {"all_reduce": 2 * share, "collective_permute": 1}
    stage = report["stages"][0]
    lists = [(stage["collectives"], 1),
             *((p["collectives"], p["period"]) for p in stage["programs"])]
    return round(sum(entry["bytes"] * passes.get(entry["kind"], share) / period
                     for entries, period in lists for entry in entries)
                 + stage["bytes"]["pushed"])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rate", default="100mbit")
    parser.add_argument("--steps", type=int, default=41)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=2)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary, \
            machines(arguments.rate) as names:
        folder = Path(temporary)
        agent = write_agent(folder, names)
        programs = {way: compile_program(way, arguments.batch, folder)
                    for way in WAYS}
        times = {way: [] for way in WAYS}
        for _ in range(arguments.rounds):
            for way, (program, _) in programs.items():
                times[way].append(measure(program, way, arguments.steps, names,
                                          agent, folder))
        base = min(times["none"])
        print(f"gpt2-tiny, batch {arguments.batch}, {RANKS} ranks, links of "
              f"{arguments.rate}, {arguments.rounds} rounds of "
              f"{arguments.steps} steps")
        print(f"{'exchange':28} {'step':>9} {'speed-up':>9} {'bytes':>10}")
        for way, (_, report) in programs.items():
            best = min(times[way])
            print(f"{way:28} {best * 1000:6.1f} ms {base / best:8.2f}x "
                  f"{bytes_sent(report):10}")


if __name__ == "__main__":
    sys.exit(main())
