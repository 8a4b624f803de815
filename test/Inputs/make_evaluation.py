"""Writes validation data, NAME.data/valid, and evaluation.json: what PyTorch's
evaluations on them in f64 say after some steps of training, and of the first
samples before it.

usage: make_evaluation.py --digits digits.csv.gz --text moby-dick.txt.gz

The data follow those that models.py trains on. Every sample counts once,
whatever the batch. Losses are means over all labels or elements that count,
without smoothing and class weights; training losses have these; batch norms use
their running statistics. F1 scores are scikit-learn's. Needs the packages of
bench/requirements.txt.
"""

import argparse
import copy
import gzip
import json
import math
from pathlib import Path

import numpy as np
import torch
from sklearn.metrics import f1_score
from torch.nn import functional as F

import models
from reference import BATCH, backward

HERE = Path(__file__).parent
TRAINED_ROWS = {"mlp-digits": 1500, "gpt2-tiny": 4096}
VALID_ROWS = 113
SIZES = (1, 5, 17, 113)
STEPS = (2, 4, 5)


def make_valid(model, args):
    """Inputs and labels that the model is not trained on."""
    if model.name == "toy":
        random = np.random.default_rng(1)
        return (random.standard_normal((40, 10), np.float32),
                random.standard_normal((40, 5), np.float32))
    if model.inputs.shape[1:] == models.IMAGE:
        return models.read_digits(
            args.digits, slice(models.IMAGES, models.IMAGES + VALID_ROWS),
            models.IMAGE)
    first = TRAINED_ROWS[model.name]
    if model.name == "mlp-digits":
        return models.read_digits(args.digits, slice(first, None))
    with gzip.open(args.text) as file:
        text = np.frombuffer(file.read(), np.uint8)
    length, rows = models.CONTEXT, VALID_ROWS
    return tuple(text[start:start + rows * length].reshape(rows, length).copy()
                 for start in (first * length, first * length + 1))


def measure(kind, outputs, labels, loss_of_training=None, ignored=-100,
            is_text=False):
    """Returns the evaluation of outputs, by the names of metrics."""
    report = {}
    if kind == "cross-entropy":
        outputs, labels = outputs.flatten(0, -2), labels.flatten().long()
        counted = labels != ignored
        outputs, labels = outputs[counted], labels[counted]
        report["eval_loss"] = F.cross_entropy(outputs, labels).item()
        best = outputs.argmax(-1)
        report["eval_accuracy"] = (best == labels).double().mean().item()
        if is_text:
            report["eval_perplexity"] = math.exp(report["eval_loss"])
        else:
            five = outputs.topk(5).indices == labels[:, None]
            report["eval_top5"] = five.any(-1).double().mean().item()
            report["eval_f1"] = f1_score(labels, best, average="macro")
    else:
        labels = labels.double()
        report["eval_loss"] = (
            F.mse_loss if kind == "mse" else
            F.binary_cross_entropy_with_logits)(outputs, labels).item()
    if kind == "bce":
        predicted, is_label = outputs > 0, labels > 0.5
        right = predicted == is_label
        report["eval_accuracy"] = right.double().mean().item()
        report["eval_f1"] = f1_score(is_label, predicted, average="macro")
    if loss_of_training:
        report["eval_training_loss"] = loss_of_training(outputs, labels).item()
    return report


@torch.no_grad()
def run(module, inputs):
    mode = module.training
    inputs = torch.from_numpy(inputs)
    outputs = module.eval()(inputs.double() if inputs.is_floating_point()
                            else inputs.long())
    module.train(mode)
    return outputs


def train(model, valid, kind, compute_loss=None, ignored=-100, lr=0.1,
          microbatches=1, **options):
    module = copy.deepcopy(model.module).double()
    optimizer = torch.optim.SGD(module.parameters(), lr=lr)
    report = dict(step=[])
    labels = torch.from_numpy(valid[1])
    for step in range(1, max(STEPS) + 1):
        x, y = model.batch(step - 1, BATCH, torch.float64)
        optimizer.zero_grad()
        if compute_loss:
            compute_loss(module(x), y).backward()
        else:
            backward(model, module, x, y, microbatches)
        optimizer.step()
        if step not in STEPS:
            continue
        report["step"].append(step)
        numbers = measure(kind, run(module, valid[0]), labels, ignored=ignored,
                          **options)
        for name, value in numbers.items():
            report.setdefault(name, []).append(value)
    return report


def evaluate_sizes(model, valid):
    """Evaluates the first samples: the numbers, and the outputs of up to 17."""
    module = copy.deepcopy(model.module).double()
    report = {}
    for size in SIZES:
        outputs = run(module, valid[0][:size])
        numbers = measure("cross-entropy", outputs,
                          torch.from_numpy(valid[1][:size]))
        report[str(size)] = {"step": [0], **{name: [value] for name, value
                                             in numbers.items()}}
    report["outputs"] = run(module, valid[0][:17]).tolist()
    return report


def write_shards(array, folder, name):
    """One file for each size, which adds to those before."""
    (folder / f"{name}.npy").unlink(missing_ok=True)
    first = 0
    for number, end in enumerate(SIZES):
        np.save(folder / f"{name}-{number}.npy", array[first:end])
        first = end


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--digits", required=True)
    parser.add_argument("--text", required=True)
    args = parser.parse_args()
    torch.set_num_threads(1)
    toy, digits, gpt2, resnet, convnet = (
        models.toy(), models.mlp_digits(args.digits),
        models.gpt2_tiny(args.text), models.resnet_digits(args.digits),
        models.convnet_digits(args.digits))
    valid = {}
    for model in (toy, digits, gpt2, resnet, convnet):
        models.round_constants(model.module)
        arrays = valid[model.name] = make_valid(model, args)
        folder = HERE / f"{model.name}.data" / "valid"
        folder.mkdir(exist_ok=True)
        for name, array in zip((model.input_name, "labels"), arrays):
            if model is resnet:
                write_shards(array, folder, name)
            else:
                np.save(folder / f"{name}.npy", array)
    weights = torch.arange(1, 11, dtype=torch.float64) / 4

    def weighted(y, t):
        return F.cross_entropy(y, t, weight=weights, ignore_index=3,
                               label_smoothing=0.3)

    report = {
        "mse": train(toy, valid["toy"], "mse"),
        "bce": train(toy, valid["toy"], "bce",
                     F.binary_cross_entropy_with_logits),
        "digits": train(digits, valid["mlp-digits"], "cross-entropy"),
        "digits-all": train(
            digits, valid["mlp-digits"], "cross-entropy", weighted, ignored=3,
            loss_of_training=weighted),
        # A rate at which what is predicted most changes.
        "gpt2-tiny": train(gpt2, valid["gpt2-tiny"], "cross-entropy", lr=0.5,
                            is_text=True),
        "resnet-digits": train(resnet, valid["resnet-digits"],
                               "cross-entropy"),
        "resnet-digits-micro4": train(resnet, valid["resnet-digits"],
                                      "cross-entropy", microbatches=4),
        "convnet-digits": train(convnet, valid["convnet-digits"],
                                "cross-entropy"),
        "sizes": evaluate_sizes(resnet, valid["resnet-digits"]),
        "torch": torch.__version__,
    }
    (HERE / "evaluation.json").write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
