"""Draws models at random, exports them and compares their training with PyTorch.

usage: random_models.py --dtc build/release/bin/dtc [--seeds A-B] [--full]
                        [--write DIRECTORY]

A seed determines a model (random_blocks.py). Both exporters export it. Dynamo uses a
dynamic batch if the seed is odd. The script trains each file for three steps in f64
under SGD: losses and gradient norms must equal PyTorch's to 1e-9. --full adds AdamW
and plans of several ranks. The script prints differences and refusals. --write keeps
the files and PyTorch's figures for test/Integration/CPU/random-models.test.
"""

import argparse
import json
import logging
import tempfile
import warnings
from pathlib import Path

import numpy as np
import onnx
import torch

from export import export, input_names
from random_blocks import random_model
from reference import make_labels, train_with_both
from sweep import ADAMW, SGD, Judge, describe_check


def slim(path):
    """Removes data that dtc does not read, and this machine's paths."""
    model = onnx.load(path)
    for node in model.graph.node:
        kept = [p for p in node.metadata_props
                if p.key.rsplit(".", 1)[-1] in ("fx_node", "name_scopes")]
        del node.metadata_props[:]
        node.metadata_props.extend(kept)
        node.doc_string = ""
    del model.graph.value_info[:]
    onnx.save(model, path)


def write_model(seed, folder):
    """Writes the files of a seed: exports, data, and PyTorch's results."""
    folder.mkdir(parents=True)
    model = random_model(seed)
    labels = make_labels(model)
    data = folder / "data"
    data.mkdir()
    inputs = model.inputs[0]
    np.save(data / "x.npy", inputs.astype(np.uint8)
            if inputs.dtype.kind == "i" else inputs)
    np.save(data / "labels.npy", labels.astype(np.uint8))
    for exporter in ("dynamic" if seed % 2 else "dynamo"), "torchscript":
        path = folder / f"{exporter}.onnx"
        try:
            export(model, exporter, path)
        except Exception as error:  # pylint: disable=broad-except
            print(seed, exporter, "not exported:", str(error)[:100])
            continue
        slim(path)
        (folder / f"{exporter}.onnx.data").unlink(missing_ok=True)
    assert input_names(model.module, 1) == ["x"]
    return model, dict(loss="cross-entropy", class_axis=-1, options=[],
                       loss_of={}, **train_with_both(model, labels))


def checks(model, is_full):
    plain = [*SGD, "--dtype", "f64"]
    yield "sgd", plain, 1, "sgd"
    if not is_full:
        return
    yield "adamw", [*ADAMW, "--dtype", "f64"], 1, "adamw"
    yield "dp2pp2", [*plain, "--dp", 2, "--pp", 2, "--microbatches", 2], 4, "sgd"
    yield "zero3", [*plain, "--dp", 2, "--zero", 3], 2, "sgd"
    if model.has_heads:
        yield "tp2", [*plain, "--tp", 2], 2, "sgd"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--dtc", type=Path, required=True)
    parser.add_argument("--seeds", default="0-19")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--write", type=Path)
    parser.add_argument("--timeout", type=int, default=150)
    args = parser.parse_args()
    first, last = map(int, args.seeds.split("-"))
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    references = {}
    for seed in range(first, last + 1):
        with tempfile.TemporaryDirectory() as work:
            folder = (args.write or Path(work)) / f"random-{seed}"
            model, reference = write_model(seed, folder)
            references[str(seed)] = reference["sgd"]
            for path in sorted(folder.glob("*.onnx")):
                judge = Judge(args, path, reference, work)
                found = {name: judge.compare(*rest) for name, *rest in
                         checks(model, args.full)}
                print(seed, path.stem, ", ".join(
                    f"{name} {describe_check(check)}"
                    for name, check in found.items()), flush=True)
    if args.write:
        (args.write / "random-models.json").write_text(
            json.dumps(references, indent=1) + "\n")


if __name__ == "__main__":
    main()
