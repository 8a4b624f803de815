"""Writes the folder losses beside this file: models whose output is the loss, as
people write it, exported by both exporters (NAME-dynamo.onnx, and
NAME-torchscript.onnx if it can; one, NAME-dynamic.onnx, for any batch).

usage: make_losses.py

`x.npy` and a target for each kind of loss are NAME.data; losses.json has losses and
gradient norms of three SGD steps in f64. Needs the packages of
bench/requirements.txt.
"""

import copy
import json
import shutil
import warnings
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from make_exports import shrink

FOLDER = Path(__file__).parent / "losses"
BATCH, STEPS, WIDTH, CLASSES = 8, 3, 5, 4


def mean_of_errors(y, t):
    error = y - t
    return (error * error).sum() / y.shape[0]


def contrastive(y, t):
    similarity = F.normalize(y, dim=-1) * F.normalize(t, dim=-1)
    return (1 - similarity.sum(-1)).mean()


def put(y, t):
    result, mask = torch.zeros_like(y), t > 0
    result[mask] = torch.sqrt(t[mask]) * y[mask]
    result[~mask] = 1.0
    return result.prod(-1).mean()


def rows(y, t):
    mask = t > 0
    return F.cross_entropy(y[mask].tanh(), t[mask] - 1)


def nested(y, t):
    chosen = (t > 0).sum(-1) > 1
    error, weight = (y - t)[chosen], t[chosen].abs()
    far = error.detach() > weight
    square = error * error
    square[far] = weight[far] * error[far]
    return square.sum() / square.numel()


LOSSES = dict(
    l1=(F.l1_loss, "number"),
    smooth_l1=(lambda y, t: F.smooth_l1_loss(y, t, beta=0.5), "number"),
    huber=(lambda y, t: F.huber_loss(y, t, delta=0.5), "number"),
    mse_sum=(lambda y, t: F.mse_loss(y, t, reduction="sum"), "number"),
    written=(mean_of_errors, "number"),
    cosine=(contrastive, "number"),
    kl=(lambda y, t: F.kl_div(F.log_softmax(y, -1), t, reduction="batchmean"),
        "distribution"),
    soft_cross_entropy=(F.cross_entropy, "distribution"),
    soft_smoothed=(lambda y, t: F.cross_entropy(
        y, t, torch.tensor([1.0, 2.0, 0.5, 1.5]).to(y.dtype),
        label_smoothing=0.25), "distribution"),
    bce=(lambda y, t: F.binary_cross_entropy(torch.sigmoid(y), t), "share"),
    bce_logits=(F.binary_cross_entropy_with_logits, "share"),
    nll=(lambda y, t: F.nll_loss(F.log_softmax(y, -1), t), "class"),
    smoothed=(lambda y, t: F.cross_entropy(y, t, label_smoothing=0.125),
              "class"),
    selected=(lambda y, t: F.mse_loss(y[t > 0], t[t > 0]), "number"),
    put=(put, "number"),
    rows=(rows, "class"),
    nested=(nested, "number"),
)


class Trained(nn.Module):
    def __init__(self, loss):
        super().__init__()
        self.body = nn.Linear(WIDTH, CLASSES)
        self.loss = loss

    def forward(self, x, target):
        return self.loss(self.body(x), target)


def make_target(kind):
    numbers = torch.randn(BATCH, CLASSES)
    return dict(number=numbers, distribution=numbers.softmax(-1),
                share=numbers.sigmoid(),
                **{"class": torch.randint(0, CLASSES, (BATCH,))})[kind]


def train(module, x, target):
    module = copy.deepcopy(module).double()
    target = target.double() if target.is_floating_point() else target
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
    run = dict(loss=[], grad_norm=[])
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = module(x.double(), target)
        loss.backward()
        run["loss"].append(loss.item())
        run["grad_norm"].append(float(sum(
            p.grad.norm() ** 2 for p in module.parameters()) ** 0.5))
        optimizer.step()
    return run


def main():
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    torch.manual_seed(3)
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    x, report = torch.randn(BATCH, WIDTH), {}
    for name, (loss, kind) in LOSSES.items():
        module, target = Trained(loss), make_target(kind)
        data = FOLDER / f"{name}.data"
        data.mkdir()
        np.save(data / "x.npy", x.numpy())
        np.save(data / "target.npy", target.numpy())
        exporters = dict(dynamo=dict(external_data=False),
                         torchscript=dict(dynamo=False))
        if name == "cosine":
            batch = {0: torch.export.Dim.DYNAMIC}
            exporters["dynamic"] = dict(external_data=False,
                                        dynamic_shapes=(batch, batch))
        for exporter, options in exporters.items():
            path = FOLDER / f"{name}-{exporter}.onnx"
            try:
                torch.onnx.export(module, (x, target), path,
                                  input_names=["x", "target"], verbose=False,
                                  **options)
                shrink(path)
            except (RuntimeError, torch.onnx.errors.OnnxExporterError):
                path.unlink(missing_ok=True)
        report[name] = train(module, x, target)
    (FOLDER / "losses.json").write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
