"""Measures the time of planning by the number of layers.

usage: scale.py [--layers N,N,...] [OPTION...]

Plans GPT-3 (width 12288, 96 heads, context 2048) with more and more layers up
to the phase schedule. The default plan is for 1024 ranks: --dp 16 --pp 8 --tp 8
--zero 1 --batch 1536 --microbatches 96; OPTIONs of dtc replace it. Prints processor
seconds, peak MiB, and the ratio of the seconds to those of the line before. Uses dtc
and dtc-model from PATH.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

SIZES = ["--width", "12288", "--heads", "96", "--vocab", "50304", "--context",
         "2048"]
PLAN = ["--dp", "16", "--pp", "8", "--tp", "8", "--zero", "1", "--batch",
        "1536", "--microbatches", "96", "--optimizer", "adamw"]
LAYERS = [12, 24, 48, 96]


def plan(model, options):
    """Returns the processor seconds and peak MiB of one planning."""
    process = subprocess.Popen(
        ["dtc", model, *options, "--stop-after=schedule"])
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"scale.py: dtc failed on {model.name}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    options = sys.argv[1:]
    layers = LAYERS
    if options[:1] == ["--layers"]:
        layers = [int(count) for count in options[1].split(",")]
        options = options[2:]
    print("layers  seconds    MiB  ratio")
    before = None
    with tempfile.TemporaryDirectory() as folder:
        for count in layers:
            model = Path(folder) / f"{count}.onnx"
            subprocess.run(["dtc-model", "gpt", "--layers", str(count), *SIZES,
                            "-o", model], check=True,
                           stdout=subprocess.DEVNULL)
            seconds, mib = plan(model, options or PLAN)
            ratio = f"{seconds / before:5.2f}" if before else "    -"
            print(f"{count:6}  {seconds:7.2f}  {mib:5.0f}  {ratio}", flush=True)
            before = seconds


if __name__ == "__main__":
    main()
