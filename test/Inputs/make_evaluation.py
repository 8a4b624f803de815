"""Writes validation data, NAME.data/valid, and evaluation.json: what PyTorch's
evaluations on them in f64 say after some steps of training.

usage: make_evaluation.py --digits digits.csv.gz --text moby-dick.txt.gz

The data follow those that models.py trains on. A last batch that is not whole
is left out. Losses are means over all labels or elements that count, without
smoothing and class weights; batch norms use their running statistics. Needs the
packages of bench/requirements.txt.
"""

import argparse
import copy
import gzip
import json
import math
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional as F

import models
from reference import BATCH, backward

HERE = Path(__file__).parent
TRAINED_ROWS = {"mlp-digits": 1500, "gpt2-tiny": 4096}
VALID_ROWS = 70
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


def count_right(kind, outputs, labels):
    """Right answers, where the loss has any."""
    if kind == "cross-entropy":
        return int((outputs.argmax(-1) == labels).sum())
    if kind == "bce":
        return int(((outputs > 0) == (labels > 0.5)).sum())
    return None


@torch.no_grad()
def evaluate(kind, module, valid, ignored):
    whole = len(valid[0]) // BATCH * BATCH
    inputs, labels = (torch.from_numpy(array[:whole]) for array in valid)
    mode = module.training
    outputs = module.eval()(inputs.double() if inputs.is_floating_point()
                            else inputs.long())
    module.train(mode)
    if kind == "cross-entropy":
        outputs, labels = outputs.flatten(0, -2), labels.flatten().long()
        counted = labels != ignored
        outputs, labels = outputs[counted], labels[counted]
        loss = F.cross_entropy(outputs, labels)
    else:
        labels = labels.double()
        loss = (F.mse_loss if kind == "mse" else
                F.binary_cross_entropy_with_logits)(outputs, labels)
    right = count_right(kind, outputs, labels)
    return loss.item(), None if right is None else right / labels.numel()


def train(model, valid, kind, compute_loss=None, ignored=-100, lr=0.1,
          microbatches=1):
    module = copy.deepcopy(model.module).double()
    optimizer = torch.optim.SGD(module.parameters(), lr=lr)
    report = dict(step=[], eval_loss=[])
    if kind == "cross-entropy":
        report["eval_perplexity"] = []
    if kind != "mse":
        report["eval_accuracy"] = []
    for step in range(1, max(STEPS) + 1):
        inputs, labels = model.batch(step - 1, BATCH, torch.float64)
        optimizer.zero_grad()
        if compute_loss:
            compute_loss(module(inputs), labels).backward()
        else:
            backward(model, module, inputs, labels, microbatches)
        optimizer.step()
        if step not in STEPS:
            continue
        loss, accuracy = evaluate(kind, module, valid, ignored)
        report["step"].append(step)
        report["eval_loss"].append(loss)
        if kind == "cross-entropy":
            report["eval_perplexity"].append(math.exp(loss))
        if accuracy is not None:
            report["eval_accuracy"].append(accuracy)
    return report


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
        np.save(folder / f"{model.input_name}.npy", arrays[0])
        np.save(folder / "labels.npy", arrays[1])
    weights = torch.arange(1, 11, dtype=torch.float64) / 4
    report = {
        "mse": train(toy, valid["toy"], "mse"),
        "bce": train(toy, valid["toy"], "bce",
                     F.binary_cross_entropy_with_logits),
        "digits": train(digits, valid["mlp-digits"], "cross-entropy"),
        "digits-all": train(
            digits, valid["mlp-digits"], "cross-entropy",
            lambda y, t: F.cross_entropy(y, t, weight=weights, ignore_index=3,
                                         label_smoothing=0.3), ignored=3),
        # A rate at which what is predicted most changes.
        "gpt2-tiny": train(gpt2, valid["gpt2-tiny"], "cross-entropy", lr=0.5),
        "resnet-digits": train(resnet, valid["resnet-digits"],
                               "cross-entropy"),
        "resnet-digits-micro4": train(resnet, valid["resnet-digits"],
                                      "cross-entropy", microbatches=4),
        "convnet-digits": train(convnet, valid["convnet-digits"],
                                "cross-entropy"),
        "torch": torch.__version__,
    }
    (HERE / "evaluation.json").write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
