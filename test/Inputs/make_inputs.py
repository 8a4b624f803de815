"""Writes the models, data and PyTorch references in this directory.

usage: make_inputs.py --digits digits.csv.gz --text moby-dick.txt.gz [MODEL...]

For each model NAME: NAME.onnx, NAME.data/, NAME.losses.json,
NAME.gradients-f64.safetensors (steps 1 and 2 of SGD, keys step1/PARAMETER)
and NAME.weights-f64.safetensors (after 5 steps of SGD, with the running
statistics of batch norms). A batch norm's statistics are those of the batch;
in the references named NAME-micro4, those of each of 4 micro-batches. Needs the
packages of bench/requirements.txt.
"""

import argparse
import copy
import warnings
from pathlib import Path

import numpy as np
import onnx
import torch

import models
from reference import statistics_of, write_reference


def export(model, path):
    """The TorchScript exporter's file, as it writes it but for the statistics
    of batch norms."""
    example, _ = model.batch(0, 2, torch.float32)
    dynamic = {name: {0: "batch"}
               for name in (model.input_name, model.output_name)}
    statistics, mode = statistics_of(model.module), {}
    if statistics:
        mode = dict(training=torch.onnx.TrainingMode.TRAINING,
                    do_constant_folding=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # A copy, since tracing moves the statistics.
        torch.onnx.export(copy.deepcopy(model.module), (example,), path,
                          dynamo=False, opset_version=17,
                          input_names=[model.input_name],
                          output_names=[model.output_name],
                          dynamic_axes=dynamic, **mode)
    if statistics:
        file = onnx.load(path)
        for tensor in file.graph.initializer:
            if tensor.name in statistics:
                tensor.CopyFrom(onnx.numpy_helper.from_array(
                    statistics[tensor.name].numpy(), tensor.name))
        onnx.save(file, path)


def write_data(model, directory):
    directory.mkdir(exist_ok=True)
    np.save(directory / f"{model.input_name}.npy", model.inputs)
    np.save(directory / "labels.npy", model.labels)


def stored(name, tensor):
    """Returns whether a reference tensor is committed in full. For size, gpt2-tiny
    has only the embeddings, one attention projection, and all vectors."""
    return (tensor.numel() <= 8192 or "transformer.w" in name
            or "transformer.h.2.attn.c_proj" in name)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--digits", default="digits.csv.gz")
    parser.add_argument("--text", default="moby-dick.txt.gz")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent)
    parser.add_argument("models", nargs="*", metavar="MODEL",
                        help="only these of toy, mlp-digits, gpt2-tiny, "
                        "vit-tiny, resnet-digits, convnet-digits, time-major, "
                        "mixing, matching, masked")
    args = parser.parse_args()
    torch.set_num_threads(1)
    makers = {"gpt2-tiny": lambda: models.gpt2_tiny(args.text),
              "toy": models.toy,
              "mlp-digits": lambda: models.mlp_digits(args.digits),
              "vit-tiny": models.vit_tiny,
              "resnet-digits": lambda: models.resnet_digits(args.digits),
              "convnet-digits": lambda: models.convnet_digits(args.digits),
              "time-major": models.time_major, "mixing": models.mixing,
              "matching": models.matching, "masked": models.masked}
    for name in args.models or makers:
        model = makers[name]()
        export(model, args.output / f"{name}.onnx")
        write_data(model, args.output / f"{name}.data")
        write_reference(model, args.output, stored)
        if statistics_of(model.module):
            write_reference(model, args.output, stored, microbatches=4)


if __name__ == "__main__":
    main()
