"""Times a training step of ResNet-18: one rank of dtc against PyTorch eager.

usage: resnet.py [--program PROGRAM] [--threads N] [--rounds N] [--steps N]

PROGRAM is such a model compiled for one rank with batch 16 and AdamW; without
it, `dtc-model` and `dtc` on PATH make it. Peers: PyTorch as it is installed, and
PyTorch with what makes it faster: channels last, fused AdamW, an allocator that
keeps its memory, AVX-512 where the CPU has it.
"""

import subprocess
import sys

from gpt2_tiny import INPUTS, compare, time_steps

BATCH, IMAGE, CLASSES = 16, 128, 1000


def torch_worker(steps, tuned):
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
    time_steps(steps, optimizer, lambda step: torch.nn.functional.cross_entropy(
        model(images), labels))


def prepare(args, directory):
    """Compiles the program, and writes data for it."""
    import numpy as np

    if not args.program:
        model = directory / "resnet.onnx"
        subprocess.run(["dtc-model", "resnet", "--layers", "18", "--image",
                        str(IMAGE), "--classes", str(CLASSES), "-o", model],
                       check=True, stdout=subprocess.DEVNULL)
        args.program = directory / "t"
        subprocess.run(["dtc", model, "--batch", str(BATCH), "--init",
                        "kaiming", "--optimizer", "adamw", "-o", args.program],
                       check=True)
    data = directory / "data"
    data.mkdir()
    random = np.random.default_rng(0)
    np.save(data / "input.npy", random.standard_normal(
        (2 * BATCH, 3, IMAGE, IMAGE), dtype=np.float32))
    np.save(data / "labels.npy", random.integers(0, CLASSES, 2 * BATCH))
    return data


if __name__ == "__main__":
    compare(__doc__, f"ResNet-18, {IMAGE} x {IMAGE} pixels, batch {BATCH}",
            prepare, torch_worker, __file__)
