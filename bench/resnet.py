"""Times a training step of ResNet-18: one rank of dtc against PyTorch eager.

usage: resnet.py [--threads N] [--rounds N] [--steps N]

`dtc` and `dtc-model` are on PATH. Peers: PyTorch as it is installed, and PyTorch
with what makes it faster: channels last, fused AdamW, an allocator that keeps
its memory, AVX-512 where the CPU has it.
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from gpt2_tiny import (INPUTS, WARMUP, make_parser, measure, parse_arguments,
                       print_times, run_dtc, run_torch)

BATCH, IMAGE, CLASSES = 16, 128, 1000


def torch_worker(steps, tuned):
    """Prints the seconds of each step as JSON."""
    sys.path.insert(0, str(INPUTS))
    import torch
    from resnet import ResNet

    torch.manual_seed(0)
    model = ResNet((2, 2, 2, 2), False, 64, 3, CLASSES, (7, 2), 2).train()
    images = torch.randn(BATCH, 3, IMAGE, IMAGE)
    labels = torch.randint(0, CLASSES, (BATCH,))
    if tuned:
        model = model.to(memory_format=torch.channels_last)
        images = images.contiguous(memory_format=torch.channels_last)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3,
                                  fused=True if tuned else None)
    seconds = []
    for _ in range(steps):
        start = time.perf_counter()
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        loss.item()
        seconds.append(time.perf_counter() - start)
    print(json.dumps(dict(seconds=seconds, torch=torch.__version__,
                          capability=torch.backends.cpu.get_cpu_capability())))


def prepare(args, directory):
    """Compiles the program, and writes data for it."""
    import numpy as np

    model = directory / "resnet.onnx"
    subprocess.run(["dtc-model", "resnet", "--layers", "18", "--image",
                    str(IMAGE), "--classes", str(CLASSES), "-o", model],
                   check=True, stdout=subprocess.DEVNULL)
    args.program = directory / "t"
    subprocess.run(["dtc", model, "--batch", str(BATCH), "--init", "kaiming",
                    "--optimizer", "adamw", "-o", args.program], check=True)
    data = directory / "data"
    data.mkdir()
    random = np.random.default_rng(0)
    np.save(data / "input.npy", random.standard_normal(
        (2 * BATCH, 3, IMAGE, IMAGE), dtype=np.float32))
    np.save(data / "labels.npy", random.integers(0, CLASSES, 2 * BATCH))
    return data


def main():
    parser = make_parser(__doc__, rounds=3)
    parser.add_argument("--threads", type=int, default=1)
    args = parse_arguments(parser)
    if args.worker:
        return torch_worker(args.steps, args.worker == "tuned")

    with tempfile.TemporaryDirectory() as temporary:
        directory = Path(temporary)
        data = prepare(args, directory)
        times, notes = measure({
            "dtc": lambda: run_dtc(args, directory, data),
            "PyTorch as installed": lambda: run_torch(args, False, __file__),
            "PyTorch tuned": lambda: run_torch(args, True, __file__)},
            args.rounds)

    print(f"ResNet-18, {IMAGE} x {IMAGE} pixels, batch {BATCH}, AdamW, fp32, "
          f"{args.threads} thread(s), {args.rounds} rounds of "
          f"{args.steps - WARMUP} steps")
    print_times(times, notes)


if __name__ == "__main__":
    main()
