"""Times a training step of gpt2-tiny: one rank of dtc against PyTorch eager.

usage: gpt2_tiny.py [--program PROGRAM] [--threads N] [--rounds N] [--steps N]

PROGRAM is gpt2-tiny compiled for one rank with batch 32 and AdamW; without it,
`dtc` on PATH compiles it. Contenders run in turn, each in a process of its own,
several rounds; every step after the warm-up counts. Peers: PyTorch as it is
installed, and PyTorch with what makes it faster (`TUNED`).
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

INPUTS = Path(__file__).resolve().parent.parent / "test" / "Inputs"
BATCH = 32
WARMUP = 5

# Without the malloc settings each step returns its memory to the kernel and
# page-faults it back in.
TUNED = {"MALLOC_MMAP_THRESHOLD_": "1073741824",
         "MALLOC_TRIM_THRESHOLD_": "4294967296",
         "MALLOC_TOP_PAD_": "268435456"}


def cpu_info():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            name = line.split(":")[1].strip()
        if line.startswith("flags"):
            return name, set(line.split(":")[1].split())
    return platform.processor(), set()


def time_steps(steps, optimizer, forward):
    """Prints the seconds of each step as JSON. `forward` gives the loss of a
    step."""
    import torch

    seconds = []
    for step in range(steps):
        start = time.perf_counter()
        optimizer.zero_grad()
        loss = forward(step)
        loss.backward()
        optimizer.step()
        loss.item()
        seconds.append(time.perf_counter() - start)
    print(json.dumps(dict(seconds=seconds, torch=torch.__version__,
                          capability=torch.backends.cpu.get_cpu_capability())))


def torch_worker(steps, tuned):
    sys.path.insert(0, str(INPUTS))
    import numpy as np
    import torch
    from models import gpt2_tiny_config
    from transformers import GPT2LMHeadModel

    torch.manual_seed(0)
    model = GPT2LMHeadModel(gpt2_tiny_config("sdpa")).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3,
                                  fused=True if tuned else None)
    data = INPUTS / "gpt2-tiny.data"
    inputs, labels = (torch.from_numpy(np.load(data / f"{name}.npy")).long()
                      for name in ("input_ids", "labels"))

    def forward(step):
        rows = slice(step * BATCH % len(inputs),
                     step * BATCH % len(inputs) + BATCH)
        logits = model(input_ids=inputs[rows]).logits
        return torch.nn.functional.cross_entropy(logits.flatten(0, 1),
                                                 labels[rows].flatten())

    time_steps(steps, optimizer, forward)


def run_torch(args, tuned, script):
    """`script` with --worker prints what `torch_worker` does."""
    environment = {**os.environ, "OMP_NUM_THREADS": str(args.threads)}
    if tuned:
        environment.update(TUNED)
        if "avx512f" in cpu_info()[1]:
            environment["ATEN_CPU_CAPABILITY"] = "avx512"
    output = subprocess.run(
        [sys.executable, script, "--steps", str(args.steps), "--worker",
         "tuned" if tuned else "installed"],
        env=environment, check=True, capture_output=True, text=True).stdout
    return json.loads(output.splitlines()[-1])


def run_dtc(args, directory, data):
    metrics = directory / "metrics.jsonl"
    metrics.unlink(missing_ok=True)
    subprocess.run(
        [args.program.resolve(), "--data", data,
         "--steps", str(args.steps), "--lr", "1e-3", "--metrics", metrics],
        env={**os.environ, "OMP_NUM_THREADS": str(args.threads)},
        check=True, stdout=subprocess.DEVNULL)
    lines = metrics.read_text().splitlines()[1:]
    return dict(seconds=[json.loads(line)["seconds"] for line in lines])


def print_times(times, notes):
    """A line per contender; ratios are to the first."""
    first = next(iter(times))
    width = max(map(len, times)) + 2
    print(f"machine: {cpu_info()[0]}, {os.cpu_count()} CPUs")
    print(f"{'':{width}}{'min ms':>9}{'median ms':>11}"
          f"{'min ratio':>11}{'median ratio':>14}")
    best, middle = min(times[first]), statistics.median(times[first])
    for name, values in times.items():
        low, median = min(values), statistics.median(values)
        print(f"{name:{width}}{low * 1e3:9.2f}{median * 1e3:11.2f}"
              f"{low / best:11.2f}{median / middle:14.2f}  {notes[name]}")


def make_parser(description, rounds):
    parser = argparse.ArgumentParser(
        description=description,
        formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--program", type=Path)
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--steps", type=int, default=25)
    parser.add_argument("--worker", choices=["installed", "tuned"],
                        help=argparse.SUPPRESS)
    return parser


def parse_arguments(parser):
    args = parser.parse_args()
    if args.steps <= WARMUP:
        parser.error(f"--steps must be above {WARMUP}, the warm-up")
    return args


def compile_program(args, directory, *options):
    """Sets the program unless the user has given one."""
    if args.program:
        return
    args.program = directory / "t"
    subprocess.run(
        ["dtc", INPUTS / "gpt2-tiny.onnx", "--batch", str(BATCH), *options,
         "--loss", "cross-entropy", "--optimizer", "adamw",
         "-o", args.program], check=True)


def measure(contenders, rounds):
    """Times and notes of contenders, which take turns."""
    times = {name: [] for name in contenders}
    notes = {}
    for _ in range(rounds):
        for name, run in contenders.items():
            result = run()
            times[name] += result.pop("seconds")[WARMUP:]
            notes[name] = " ".join(result.values())
    return times, notes


def compare(description, model, prepare, worker, script):
    """A bench: one rank of dtc and PyTorch, which `worker` of `script` times.
    `prepare` compiles the program and returns the folder of its data."""
    parser = make_parser(description, rounds=3)
    parser.add_argument("--threads", type=int, default=1)
    args = parse_arguments(parser)
    if args.worker:
        return worker(args.steps, args.worker == "tuned")

    with tempfile.TemporaryDirectory() as temporary:
        directory = Path(temporary)
        data = prepare(args, directory)
        times, notes = measure({
            "dtc": lambda: run_dtc(args, directory, data),
            "PyTorch as installed": lambda: run_torch(args, False, script),
            "PyTorch tuned": lambda: run_torch(args, True, script)},
            args.rounds)

    print(f"{model}, AdamW, fp32, {args.threads} thread(s), "
          f"{args.rounds} rounds of {args.steps - WARMUP} steps")
    print_times(times, notes)


def prepare(args, directory):
    compile_program(args, directory)
    return INPUTS / "gpt2-tiny.data"


if __name__ == "__main__":
    compare(__doc__, f"gpt2-tiny, batch {BATCH}", prepare, torch_worker,
            __file__)
