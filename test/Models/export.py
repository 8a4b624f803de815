"""Exports a model of zoo/ as users do, and records its training in PyTorch.

usage: export.py FAMILY/NAME DIRECTORY [--keep]

--keep keeps existing ONNX files and writes only the reference again.

Writes dynamo.onnx (the default exporter, static shapes), dynamic.onnx (the same
with a dynamic batch) and torchscript.onnx (dynamo=False, dynamic batch), data/,
and reference.json: PyTorch's f64 losses under SGD and AdamW, and the reason for
each missing file. A model with batch norms is exported by the lines in dtc's README,
so that nothing is folded into convolutions, and by the exporters' defaults, to
plain_dynamo.onnx and so on. Other models are exported by the defaults alone.
"""

import contextlib
import copy
import importlib
import inspect
import io
import json
import logging
import sys
import warnings
from pathlib import Path

import numpy as np
import onnx
import torch
from torch import nn

from model import BATCH
from reference import make_labels, train_with_both
from table import EXPORTERS, PLAIN_EXPORTERS

NORMS = (nn.modules.batchnorm._BatchNorm,)


def is_random(graph):
    """Returns whether training draws numbers: dropout, stochastic depth."""
    return any(node.op_type == "Dropout" or node.op_type.startswith("Random")
               for node in graph.node)


def has_norms(module):
    return any(isinstance(child, NORMS) for child in module.modules())


def input_names(module, count):
    return list(inspect.signature(module.forward).parameters)[:count]


def export(model, exporter, path):
    """Exports without the output of the exporters."""
    with contextlib.redirect_stdout(io.StringIO()):
        export_aloud(model, exporter, path)


def export_aloud(model, exporter, path):
    module = copy.deepcopy(model.module)
    examples = tuple(torch.from_numpy(x[:BATCH]) for x in model.inputs)
    names = input_names(module, len(examples))
    keep_norms = has_norms(module) and exporter not in PLAIN_EXPORTERS
    exporter = exporter.removeprefix("plain_")
    # Training mode, because dtc trains the file.
    module.train()
    if exporter == "dynamo":
        options = dict(optimize=False) if keep_norms else {}
        torch.onnx.export(module, examples, path, **options)
    elif exporter == "dynamic":
        options = dict(optimize=False) if keep_norms else {}
        shapes = {name: {0: "batch"} for name in names}
        torch.onnx.export(module, examples, path, dynamic_shapes=shapes,
                          **options)
    else:
        options = {}
        if keep_norms:
            options = dict(training=torch.onnx.TrainingMode.TRAINING,
                           do_constant_folding=False)
        torch.onnx.export(module, examples, path, dynamo=False,
                          input_names=names, output_names=["output"],
                          dynamic_axes={name: {0: "batch"}
                                        for name in [*names, "output"]},
                          **options)


def main(name, directory, keep=""):
    directory = Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    torch.manual_seed(0)
    family, maker = name.split("/")
    model = getattr(importlib.import_module(f"zoo.{family}"), maker)()
    model.module.train()
    labels = make_labels(model)
    data = directory / "data"
    data.mkdir(exist_ok=True)
    for key, array in zip(input_names(model.module, len(model.inputs)),
                          model.inputs):
        np.save(data / f"{key}.npy", array)
    np.save(data / "labels.npy", labels)
    report = dict(
        loss=model.loss, has_heads=model.has_heads, options=model.options,
        class_axis=model.class_axis, random=False,
        batch_norm=has_norms(model.module),
        parameters=sum(p.numel() for p in model.module.parameters()),
        torch=torch.__version__, **train_with_both(model, labels))
    report["not_exported"], report["loss_of"] = {}, {}
    plain = PLAIN_EXPORTERS if report["batch_norm"] else ()
    for exporter in (*EXPORTERS, *plain):
        path = directory / f"{exporter}.onnx"
        try:
            if not (keep and path.exists()):
                export(model, exporter, path)
            graph = onnx.load(path, load_external_data=False).graph
            report["random"] |= is_random(graph)
            if len(graph.output) > 1:
                report["loss_of"][exporter] = graph.output[0].name
        except Exception as error:  # pylint: disable=broad-except
            path.unlink(missing_ok=True)
            text = str(error).strip().splitlines() or [type(error).__name__]
            report["not_exported"][exporter] = text[0].split("  [Caused")[0][:300]
    (directory / "reference.json").write_text(json.dumps(report, indent=1))


if __name__ == "__main__":
    main(*sys.argv[1:])
