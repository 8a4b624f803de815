"""Times a step of a small GPT-2 on two ranks of one thread. Collectives go through
shared memory or MPI, and overlap with computation or not. The peers are PyTorch's
DDP over gloo, as installed and tuned.

usage: ddp_overlap.py [ROUNDS]

Has the requirements of compare.py, and needs two idle cores. Contenders take
turns.
"""

import statistics
import sys
import tempfile
from pathlib import Path

from compare import Bench, cpu, warm_up

RANKS = 2


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench("GPT-2 of 4 layers, 128 wide, 32 x 128", Path(folder), [])
        program = bench.compile(RANKS)
        steps = bench.work.steps
        contenders = {}
        for engine, collectives in (("shared memory", "auto"), ("MPI", "mpi")):
            for overlap in ("on", "off"):
                contenders[f"{engine}, overlap {overlap}"] = (
                    lambda c=collectives, o=overlap: bench.run_dtc(
                        program, steps, 1, RANKS, "--collectives", c,
                        "--overlap", o))
        for kind in ("installed", "tuned"):
            contenders[f"PyTorch DDP, {kind}"] = (
                lambda k=kind: bench.run_peer(k, steps, 1, RANKS))
        times = {name: [] for name in contenders}
        for _ in range(rounds):
            for name, run in contenders.items():
                times[name] += run()["seconds"][warm_up(steps):]

    print(f"{cpu()[0]}; {rounds} rounds of {steps - warm_up(steps)} steps\n")
    print("| | smallest ms | median ms | ratio of medians |\n|---|---|---|---|")
    base = statistics.median(next(iter(times.values())))
    for name, seconds in times.items():
        median = statistics.median(seconds)
        print(f"| {name} | {min(seconds) * 1e3:.0f} | {median * 1e3:.0f} "
              f"| {median / base:.2f} |")


main()
