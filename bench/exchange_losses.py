#!/usr/bin/env python3
"""Losses of a model after training with each way to exchange.

usage: exchange_losses.py [--model gpt2-tiny] [--steps 200] [--seeds 2] [OPTION...]

Four replicas, batch 32, AdamW, a model of test/Inputs (gpt2-tiny, or
convnet-digits). Prints, for each way to exchange gradients or parameters, the loss
on the validation data after the last step, its distance from that of uncompressed
gradients, the accuracy, and the bytes that a rank sends in a step.
OPTIONs of dtc replace --compress of the table's rows. Needs dtc on PATH.
"""

import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from slow_network import INPUTS, bytes_sent, ranks_of, run

WAYS = ["none", "int8", "int4", "qsgd:64", "powersgd:4",
        "none --sync delayed:1", "sign", "sign --error-feedback ef21",
        "topk:0.1", "topk:0.1 --error-feedback ef21",
        "topk:0.1 --error-feedback off", "topk:0.01",
        "topk:0.01 --error-feedback ef21", "topk:0.01 --error-feedback off",
        "randk:0.1", "none --sync every:5", "none --sync every:20",
        "none --sync every:20,outer=nesterov:0.7:0.9",
        "none --sync gossip:ring", "none --sync gossip:one-peer",
        "none --sync async:1", "none --sync async:4",
        "none --sync async:4,rate=staleness"]


def train(model, way, steps, seed, folder):
    """The validation loss and accuracy, and the bytes of a step."""
    data = INPUTS / f"{model}.data"
    program, report = folder / "t", folder / "report.json"
    run("dtc", INPUTS / f"{model}.onnx", "--batch", 32, "--dp", ranks_of(way),
        "--report-json", report, "-o", program, "--compress", *way.split())
    metrics = folder / "metrics.jsonl"
    metrics.unlink(missing_ok=True)
    run(program, "--nproc", ranks_of(way), "--threads", 1, "--data",
        data, "--steps", steps, "--seed", seed, "--eval-data", data / "valid",
        "--eval-every", steps, "--metrics", metrics)
    lines = [json.loads(line) for line in metrics.read_text().splitlines()]
    last = [line for line in lines if "eval_loss" in line][-1]
    return (last["eval_loss"], last["eval_accuracy"],
            bytes_sent(json.loads(report.read_text())))


def main():
    arguments = sys.argv[1:]
    options = {"--model": "gpt2-tiny", "--steps": 200, "--seeds": 2}
    while arguments and arguments[0] in options:
        kind = type(options[arguments[0]])
        options[arguments[0]] = kind(arguments[1])
        arguments = arguments[2:]
    ways = ["none", " ".join(arguments)] if arguments else WAYS
    base = None
    print(f"{options['--model']}, {options['--steps']} steps, mean of "
          f"{options['--seeds']} seeds")
    print(f"{'exchange':44} {'loss':>8} {'worse by':>9} {'accuracy':>9} "
          f"{'bytes':>9}")
    with tempfile.TemporaryDirectory() as folder:
        for way in ways:
            results = [train(options["--model"], way, options["--steps"], seed,
                             Path(folder)) for seed in range(options["--seeds"])]
            loss = statistics.mean(r[0] for r in results)
            base = base or loss
            print(f"{way:44} {loss:8.4f} {100 * (loss / base - 1):8.1f}% "
                  f"{statistics.mean(r[1] for r in results):9.4f} "
                  f"{results[0][2]:9}", flush=True)


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        sys.exit(f"exchange_losses.py: {error}\n{error.stderr}")
