"""Writes modules/dropout*: a transformer block with dropout and stochastic
depth, exported in training mode by both of PyTorch's exporters, with data and
the reference of the module in evaluation mode, where it has neither.

usage: make_dropout.py

Needs the packages of bench/requirements.txt.
"""

import copy
import json
import warnings
from pathlib import Path

import numpy as np
import onnx
import torch
from sklearn.metrics import f1_score
from torch import nn
from torch.nn import functional as F

from make_inputs import write_data
from models import Model, Projection
from reference import BATCH, write_reference

LENGTH, WIDTH, CLASSES = 6, 8, 5


class DropPath(nn.Module):
    """Stochastic depth by samples, as in timm."""

    def __init__(self, probability):
        super().__init__()
        self.keep = 1 - probability

    def forward(self, x):
        if not self.training:
            return x
        shape = (x.shape[0],) + (1,) * (x.ndim - 1)
        return x * x.new_empty(shape).bernoulli_(self.keep).div_(self.keep)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.e = Projection(WIDTH, WIDTH)
        self.drop = nn.Dropout(0.1)
        self.q, self.k, self.v = (Projection(WIDTH, WIDTH) for _ in range(3))
        self.o = Projection(WIDTH, WIDTH)
        self.up = Projection(WIDTH, 4 * WIDTH)
        self.down = Projection(4 * WIDTH, WIDTH)
        self.path = DropPath(0.2)
        self.head = nn.Linear(WIDTH, CLASSES)

    def forward(self, x):
        def split(y):
            return y.reshape(-1, LENGTH, 2, WIDTH // 2).transpose(1, 2)

        x = self.drop(self.e(x))
        q, k, v = split(self.q(x)), split(self.k(x)), split(self.v(x))
        weights = (q @ k.transpose(-2, -1)).softmax(-1)
        y = F.dropout(weights, 0.1, self.training) @ v
        x = x + self.drop(self.o(y.transpose(1, 2).reshape(-1, LENGTH, WIDTH)))
        x = x + self.path(self.drop(self.down(self.up(x).relu())))
        return self.head(x.mean(1))


def export(model, path, **options):
    example, _ = model.batch(0, BATCH, torch.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(copy.deepcopy(model.module).train(), (example,),
                          path, input_names=[model.input_name],
                          output_names=[model.output_name], **options)
    file = onnx.load(path)
    for node in file.graph.node:  # where the exporter ran
        for i, entry in reversed(list(enumerate(node.metadata_props))):
            if entry.key == "pkg.torch.onnx.stack_trace":
                del node.metadata_props[i]
    onnx.save(file, path)


def write_evaluation(model, path):
    """Writes the evaluation of all samples before any step."""
    rows, labels = model.batch(0, len(model.inputs), torch.float64)
    module = copy.deepcopy(model.module).double()
    with torch.no_grad():
        loss = model.compute_loss(module, rows, labels).item()
        best = module(rows).argmax(-1)
    report = dict(dropout=dict(
        step=[1], eval_loss=[loss],
        eval_accuracy=[(best == labels).double().mean().item()],
        eval_f1=[f1_score(labels, best, average="macro")]))
    path.write_text(json.dumps(report, indent=1) + "\n")


def main():
    torch.manual_seed(8)
    torch.set_num_threads(1)
    random = np.random.default_rng(8)
    inputs = random.standard_normal((2 * BATCH, LENGTH, WIDTH), np.float32)
    labels = random.integers(0, CLASSES, len(inputs)).astype(np.uint8)
    model = Model("dropout", Block().eval(), "x", "logits", inputs, labels,
                  "cross-entropy", 0.1)
    folder = Path(__file__).parent / "modules"
    export(model, folder / "dropout.onnx", dynamo=False,
           training=torch.onnx.TrainingMode.TRAINING,
           do_constant_folding=False, dynamic_axes={"x": {0: "batch"}})
    export(model, folder / "dropout-dynamo.onnx", dynamo=True,
           external_data=False, verbose=False)
    write_data(model, folder / "dropout.data")
    write_reference(model, folder, lambda name, tensor: True)
    write_evaluation(model, folder / "dropout.evaluation.json")


if __name__ == "__main__":
    main()
