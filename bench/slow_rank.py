#!/usr/bin/env python3
"""Samples per second if one of four workers is slow.

usage: slow_rank.py [--steps 60] [--batch 32] [--rounds 2]

Each rank is in a control group that limits it to four tenths of a core, as if it
had a machine of its own; the slow one is limited to a third of that. Prints
samples per second of synchronous training and of a parameter server, with and
without the slow rank, and their ratio. The server is a rank of its own beside the
four workers. The model is tests' gpt2-tiny. Needs root, control groups, Open MPI,
and dtc on PATH.
"""

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from slow_network import ENVIRONMENT, INPUTS, RANKS, mean_step, ranks_of, run

WAYS = ["step", "async:1", "async:4", "async:16"]
SHARE, SLOW = 0.4, 3
PERIOD = 20_000  # microseconds


@contextlib.contextmanager
def groups(ranks, slow):
    """A control group for each rank; rank `slow` is slow. Of both versions."""
    new = Path("/sys/fs/cgroup/cgroup.controllers").exists()
    root = Path("/sys/fs/cgroup") / ("" if new else "cpu")
    made = [root / f"dtc-{os.getpid()}-{rank}" for rank in range(ranks)]
    try:
        for rank, group in enumerate(made):
            group.mkdir()
            quota = int(PERIOD * SHARE / (SLOW if rank == slow else 1))
            if new:
                (group / "cpu.max").write_text(f"{quota} {PERIOD}")
            else:
                (group / "cpu.cfs_period_us").write_text(str(PERIOD))
                (group / "cpu.cfs_quota_us").write_text(str(quota))
        yield made
    finally:
        for group in made:
            with contextlib.suppress(OSError):
                group.rmdir()


def measure(program, way, slow, arguments, folder):
    """Seconds of a step, on average."""
    ranks = ranks_of(way)
    metrics = folder / "metrics.jsonl"
    metrics.unlink(missing_ok=True)
    with groups(ranks, ranks - 1 if slow else None) as made:
        prefix = str(made[0])[:-1]
        enter = f'echo $$ > {prefix}$OMPI_COMM_WORLD_RANK/cgroup.procs'
        run("mpirun", "--oversubscribe", "--bind-to", "none", "-n", ranks,
            "bash", "-c", f'{enter} && exec "$0" "$@"', program, "--data",
            INPUTS / "gpt2-tiny.data", "--steps", arguments.steps,
            "--threads", 1, "--metrics", metrics, env=ENVIRONMENT)
    return mean_step(metrics)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=2)
    arguments = parser.parse_args()
    print(f"gpt2-tiny, batch {arguments.batch}, {RANKS} workers, "
          f"{arguments.rounds} rounds of {arguments.steps} steps")
    print(f"{'--sync':12} {'all alike':>16} {'one slow':>16} {'kept':>8}")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for way in WAYS:
            program = folder / "t"
            run("dtc", INPUTS / "gpt2-tiny.onnx", "--batch", arguments.batch,
                "--dp", ranks_of(way), "--sync", way, "-o", program)
            alike, slowed = (
                arguments.batch / min(
                    measure(program, way, slow, arguments, folder)
                    for _ in range(arguments.rounds))
                for slow in (False, True))
            print(f"{way:12} {alike:8.0f} samples/s {slowed:6.0f} samples/s "
                  f"{100 * slowed / alike:5.0f} %", flush=True)


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        sys.exit(f"slow_rank.py: {error}\n{error.stderr}")
