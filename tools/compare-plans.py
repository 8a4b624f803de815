#!/usr/bin/env python3
"""Compares the reports of two builds of dtc for random plans.

    tools/compare-plans.py BEFORE/bin/dtc AFTER/bin/dtc [--count 200] [--seed 0] [--without --precision]

A refactoring must not change a plan: memory, work and communication of each rank
stay the same, and both builds refuse the same plans. Prints each difference with
its command, and exits with 1 if there is one.
"""

import argparse
import concurrent.futures
import json
import os
import random
import subprocess
import tempfile

INPUTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "test", "Inputs")
# Required options of each model, its batch sizes and its values of --tp.
MODELS = {
    "toy": (["--loss", "mse"], [32, 64], [1, 2]),
    "mlp-digits": ([], [32, 64], [1, 2]),
    "gpt2-tiny": ([], [16, 32], [1, 2, 4]),
    "vit-tiny": ([], [16, 32], [1, 2]),
    "time-major": ([], [16, 32], [1, 2]),
    "mixing": ([], [16, 32], [1, 2]),
    "resnet-digits": (["--batchnorm", "micro"], [32, 64], [1]),
    "convnet-digits": ([], [32, 64], [1]),
    "experts/mixtral": ([], [32, 64], [1, 2]),
}


def draw(rng):
    model = rng.choice(list(MODELS))
    options, batches, tps = MODELS[model]
    options = [os.path.join(INPUTS, model + ".onnx"), *options]

    def maybe(probability, *more):
        if rng.random() < probability:
            options.extend(str(option) for option in more)

    maybe(1, "--batch", rng.choice(batches))
    dp, pp, tp = rng.choice([1, 2, 4]), rng.choice([1, 2, 3, 4]), rng.choice(tps)
    maybe(1, "--dp", dp, "--pp", pp, "--tp", tp)
    maybe(0.8, "--microbatches", rng.choice([1, 2, 4]))
    maybe(0.3, "--accumulate", 2)
    maybe(0.3 if tp > 1 else 0, "--sp")
    zero = rng.choice([0, 1, 2, 3]) if dp > 1 else 0
    maybe(zero > 0, "--zero", zero)
    maybe(0.2 if zero > 0 and dp == 4 else 0, "--hsdp", 2)
    maybe(0.5 if dp > 1 and "experts" in model else 0, "--ep", 2)
    maybe(0.3 if zero == 3 else 0, "--gather", "step")
    maybe(0.4, "--recompute", rng.choice(["all", "selective", "except-last", "every:2"]))
    maybe(0.4, "--schedule", rng.choice(["gpipe", "1f1b", "zb-h1"]))
    maybe(0.4, "--precision", rng.choice(["bf16", "fp16"]))
    maybe(0.5, "--optimizer", rng.choice(["sgd", "adam", "lion", "rmsprop", "lamb", "lars"]))
    maybe(0.3, "--clip-norm", 1)
    maybe(0.2, "--ema", 0.99)
    maybe(0.2, "--no-decay", "norms-and-biases")
    maybe(0.2, "--lr-scale", "*bias=2")
    maybe(0.2, "--freeze", "*bias")
    maybe(0.2, "--bucket-mb", 1)
    return options


def report(dtc, options, folder):
    file = os.path.join(folder, "report.json")
    command = [dtc, *options, "--stop-after=schedule", "-o", os.devnull, "--report-json", file]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        return {"refused": done.stderr}
    with open(file) as text:
        return json.load(text)


def flatten(value, path=""):
    if isinstance(value, dict):
        value = value.items()
    elif isinstance(value, list):
        value = enumerate(value)
    else:
        return {path: value}
    return {k: v for key, part in value for k, v in flatten(part, f"{path}/{key}").items()}


def drop(options, unwanted):
    """Removes an option and its value, which one of the builds lacks."""
    if unwanted not in options:
        return options
    at = options.index(unwanted)
    return options[:at] + options[at + 2:]


def compare(before, after, options):
    with tempfile.TemporaryDirectory() as folder:
        old = flatten(report(before, options, folder))
        new = flatten(report(after, options, folder))
    lines = [f"  {key}: {old.get(key)} -> {new.get(key)}"
             for key in sorted(old.keys() | new.keys()) if old.get(key) != new.get(key)]
    return "/refused" in old, options, lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--without", default="", metavar="OPTION")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    plans = [drop(draw(rng), arguments.without) for _ in range(arguments.count)]
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        results = list(pool.map(lambda plan: compare(arguments.before, arguments.after, plan), plans))
    for _, options, lines in results:
        if lines:
            print("dtc " + " ".join(options), *lines[:6], sep="\n")
    refused = sum(was for was, _, _ in results)
    differing = sum(bool(lines) for _, _, lines in results)
    print(f"{len(results)} plans, {refused} of them refused: {differing} differ")
    return differing > 0


if __name__ == "__main__":
    raise SystemExit(main())
