"""Writes padding-dynamo.onnx, padding-torchscript.onnx, padding.data/ and
padding.json: five steps in f64 of a table whose row 1 is padding, which a lookup
does not train, and the head that is tied to it does.

usage: make_padding.py

Needs the packages of bench/requirements.txt.
"""

import copy
import json
from pathlib import Path

import numpy as np
import onnx
import torch
from torch import nn
from torch.nn import functional as F

from reference import fingerprint

HERE = Path(__file__).parent
BATCH, STEPS, LENGTH, ROWS = 8, 5, 6, 10


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(ROWS, 4, padding_idx=1)
        nn.init.normal_(self.embed.weight)
        self.mix = nn.Linear(4, 4)

    def forward(self, ids):
        x = torch.tanh(self.mix(self.embed(ids)))
        return F.linear(x, self.embed.weight)


def export(module, ids):
    batch = {0: "batch"}
    path = HERE / "padding-dynamo.onnx"
    torch.onnx.export(module, (ids,), path, dynamic_shapes=(batch,),
                      external_data=False, verbose=False)
    file = onnx.load(path)
    for node in file.graph.node:
        # Without this machine's paths.
        kept = [p for p in node.metadata_props if "stack" not in p.key]
        del node.metadata_props[:]
        node.metadata_props.extend(kept)
    onnx.save(file, path)
    torch.onnx.export(module, (ids,), HERE / "padding-torchscript.onnx",
                      dynamo=False, input_names=["ids"],
                      output_names=["logits"], dynamic_axes=dict(ids=batch))


def main():
    torch.manual_seed(0)
    module = Tied()
    random = np.random.default_rng(0)
    ids, labels = random.integers(0, ROWS, (2, BATCH * STEPS, LENGTH))
    ids[:, -2:] = 1
    data = HERE / "padding.data"
    data.mkdir(exist_ok=True)
    np.save(data / "ids.npy", ids.astype(np.uint8))
    np.save(data / "labels.npy", labels.astype(np.uint8))
    export(copy.deepcopy(module), torch.from_numpy(ids[:BATCH]))
    module = module.double()
    optimizer = torch.optim.AdamW(module.parameters(), 0.01)
    run = dict(loss=[], grad_norm=[])
    for step in range(STEPS):
        rows = slice(step * BATCH, (step + 1) * BATCH)
        loss = F.cross_entropy(module(torch.from_numpy(ids[rows])).flatten(0, 1),
                               torch.from_numpy(labels[rows]).flatten())
        optimizer.zero_grad()
        loss.backward()
        run["loss"].append(loss.item())
        run["grad_norm"].append(sum(
            float((p.grad ** 2).sum()) for p in module.parameters()) ** 0.5)
        optimizer.step()
    run["weights"] = {n: fingerprint(p.detach())
                      for n, p in module.named_parameters()}
    (HERE / "padding.json").write_text(
        json.dumps(dict(adamw=run, torch=torch.__version__), indent=1) + "\n")


if __name__ == "__main__":
    main()
