#!/usr/bin/env python3
"""Counts a step's work on a GPU for a GPT-2 of 12 layers, by its plan: launches,
calls of libraries, bytes moved, and the fewest possible bytes.

usage: plan_cost.py [MODEL.onnx] [--batch N] [--device NAME] [-- OPTION of dtc...]

Without MODEL.onnx, tools/export.py exports transformers' GPT-2, which needs PyTorch.
dtc must be on PATH. The script needs no GPU.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent


def export_gpt2(path):
    sys.path[:0] = [str(HERE), str(HERE.parent.parent / "tools")]
    import torch
    import models
    from export import export
    inputs, _ = models.make_data("gpt2-124m", steps=1)
    export(models.build("gpt2-124m"),
           {name: torch.from_numpy(array[:2]).long() for name, array in
            inputs.items()}, path)


def read_report(model, arguments, precision, folder):
    report = folder / "report.json"
    subprocess.run(
        ["dtc", model, "--batch", str(arguments.batch), "--precision",
         precision, "--loss", "cross-entropy", "--optimizer", "adamw",
         "--target", "cuda", "--device", arguments.device,
         "--stop-after=schedule", "--report-json", report,
         *arguments.options], check=True)
    return json.loads(report.read_text())


def describe(precision, report):
    """Returns a row for each stage."""
    for number, stage in enumerate(report["stages"]):
        work = stage["device"]
        moved = sum(work[f"{kind}_bytes"] for kind in
                    ("kernel", "library", "copy"))
        gib = 2 ** 30
        yield [precision, number, work["functions"], work["library_calls"],
               work["copies"], f"{moved / gib:.1f}",
               f"{work['kernel_bytes'] / gib:.1f}",
               f"{work['fewest_bytes'] / gib:.1f}",
               f"{moved / work['fewest_bytes']:.2f}",
               f"{report['expected'][0]['seconds'] * 1e3:.1f}",
               f"{report['expected'][0]['mfu']:.1%}"]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("model", nargs="?", type=Path)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--device", default="h100")
    given = sys.argv[1:]
    end = given.index("--") if "--" in given else len(given)
    arguments = parser.parse_args(given[:end])
    arguments.options = given[end + 1:]
    columns = ["precision", "stage", "device functions", "library calls",
               "copies", "GiB moved", "by kernels", "fewest", "ratio",
               f"ms expected ({arguments.device})", "MFU"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model = arguments.model
        if not model:
            model = folder / "gpt2.onnx"
            export_gpt2(model)
        print("| " + " | ".join(columns) + " |")
        print("|" + "---|" * len(columns))
        for precision in ("fp32", "bf16"):
            for row in describe(precision, read_report(model, arguments,
                                                       precision, folder)):
                print("| " + " | ".join(map(str, row)) + " |")


if __name__ == "__main__":
    main()
