"""Measures the cost of checkpoints in a training of GPT-2 (124 M parameters,
AdamW).

usage: checkpoints.py [--folder DIR] [--every N] [--rounds N] [--context N]

`dtc` and `dtc-model` on PATH make the program. It trains in turn without
checkpoints, with one every N steps, and with these written in the background. The
script measures the time from the end of the first step to the end of the last but
one, 2 N + 1 steps later: two checkpoints and their effect on other steps. DIR holds
the checkpoints: the speed of its disk matters.
"""

import argparse
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

arguments = argparse.ArgumentParser()
arguments.add_argument("--folder")
arguments.add_argument("--every", type=int, default=10)
arguments.add_argument("--rounds", type=int, default=1)
arguments.add_argument("--context", type=int, default=512)
options = arguments.parse_args()
work = Path(tempfile.mkdtemp(dir=options.folder))


def train(*extra):
    """Seconds from the first step to the last one measured."""
    steps = 2 * options.every + 2
    shutil.rmtree(work / "c", ignore_errors=True)
    program = subprocess.Popen(
        [work / "t", "--data", "synthetic", "--steps", str(steps + 1),
         "--log-every", "1", "--progress", "plain", *extra],
        stdout=subprocess.PIPE, text=True)
    for line in program.stdout:
        words = line.replace("/", " ").split()
        if words[:2] == ["step", "1"]:
            start = time.perf_counter()
        if words[:2] == ["step", str(steps)]:
            seconds = time.perf_counter() - start
    if program.wait():
        raise SystemExit("the program failed")
    return seconds


try:
    subprocess.run(["dtc-model", "gpt", "--context", str(options.context),
                    "-o", work / "g.onnx"], check=True)
    subprocess.run(["dtc", work / "g.onnx", "--batch", "1", "--init", "normal",
                    "--loss", "cross-entropy", "-o", work / "t"], check=True)
    checkpoints = ("--checkpoint-dir", work / "c", "--checkpoint-every",
                   str(options.every), "--keep-checkpoints", "1")
    forms = {"none": (), "waited for": checkpoints,
             "in the background": (*checkpoints, "--checkpoint-async")}
    times = {form: [] for form in forms}
    for _ in range(options.rounds):
        for form, extra in forms.items():
            times[form].append(train(*extra))
    base = statistics.median(times["none"])
    for form, seconds in times.items():
        median = statistics.median(seconds)
        print(f"{form:18} {median:8.2f} s  {median / base:.3f} times none")
finally:
    shutil.rmtree(work)
