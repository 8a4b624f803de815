#!/usr/bin/env python3
"""Compares fp32, bf16 and fp16, in one run: step times and results.

Times steps of a GPT-2 of 12 layers, 768 wide (batch 4 x 256 tokens, AdamW).
Trains gpt2-tiny and the ResNet of test/Inputs for 200 steps and evaluates them on
all of their data. Needs only dtc and dtc-model on PATH.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile

INPUTS = pathlib.Path(__file__).resolve().parent.parent / "test" / "Inputs"
PRECISIONS = ["fp32", "bf16", "fp16"]


def run(*command):
    subprocess.run([str(word) for word in command], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def steps(program, threads, metrics, *options):
    """Runs a training and returns its JSON lines."""
    run(program, "--threads", threads, "--metrics", metrics, *options)
    return [json.loads(line) for line in open(metrics)][1:]


def time_steps(folder, arguments):
    model = folder / "gpt.onnx"
    run("dtc-model", "gpt", "--context", 256, "-o", model)
    for precision in PRECISIONS:
        run("dtc", model, "--batch", 4, "--init", "normal", "--precision",
            precision, "-o", folder / precision)
    times = {precision: [] for precision in PRECISIONS}
    for _ in range(arguments.rounds):
        for precision in PRECISIONS:
            lines = steps(folder / precision, arguments.threads,
                          folder / "metrics", "--data", "synthetic",
                          "--steps", arguments.steps)
            times[precision] += [line["seconds"] for line in lines[1:]]
    print("| GPT-2, 124 M parameters | smallest ms | median ms | of fp32 |")
    print("|---|---|---|---|")
    base = statistics.median(times["fp32"])
    for precision in PRECISIONS:
        median = statistics.median(times[precision])
        print(f"| {precision} | {min(times[precision]) * 1e3:.0f} "
              f"| {median * 1e3:.0f} | {median / base:.2f} |")


def learn(folder, arguments, name, field):
    print(f"| {name} | {field} after 200 steps |")
    print("|---|---|")
    for precision in PRECISIONS:
        run("dtc", INPUTS / f"{name}.onnx", "--batch", 32, "--precision",
            precision, "-o", folder / "t")
        lines = steps(folder / "t", arguments.threads, folder / "metrics",
                      "--data", INPUTS / f"{name}.data", "--steps", 200,
                      "--eval-every", 200, "--eval-data",
                      INPUTS / f"{name}.data")
        value = [line[field] for line in lines if field in line][-1]
        print(f"| {precision} | {value:.4f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=5)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        time_steps(folder, arguments)
        learn(folder, arguments, "gpt2-tiny", "eval_loss")
        learn(folder, arguments, "resnet-digits", "eval_accuracy")


main()
