"""Writes training-options.json: PyTorch's losses, gradient norms and weights of
five steps in f64 under options of dtc that the models' references do not have;
and class-weights.npy, class-weights-f32.npy, which some of these are given.

usage: make_training_options.py

Takes models and data as they are in this directory. Optimizers that PyTorch
does not have are written out from their papers. Needs the packages of
bench/requirements.txt.
"""

import copy
import json
from pathlib import Path

import numpy as np
import onnx
import torch
from torch import nn
from torch.nn import functional as F

from reference import BATCH, fingerprint

HERE = Path(__file__).parent
STEPS = 5


class Lion(torch.optim.Optimizer):
    """Chen et al., arXiv 2302.06675, algorithm 2."""

    def __init__(self, params, lr=1e-4, betas=(0.9, 0.99), weight_decay=0.0):
        super().__init__(params, dict(lr=lr, betas=betas, wd=weight_decay))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            lr, (beta1, beta2), wd = group["lr"], group["betas"], group["wd"]
            for p in group["params"]:
                m = self.state[p].setdefault("m", torch.zeros_like(p))
                c = beta1 * m + (1 - beta1) * p.grad
                p -= lr * (c.sign() + wd * p)
                self.state[p]["m"] = beta2 * m + (1 - beta2) * p.grad


class Lamb(torch.optim.Optimizer):
    """You et al., arXiv 1904.00962, algorithm 2, phi being the identity."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-6,
                 weight_decay=0.01):
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps,
                                      wd=weight_decay))
        self.count = 0

    @torch.no_grad()
    def step(self):
        self.count += 1
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for p in group["params"]:
                state = self.state[p]
                m = beta1 * state.get("m", 0) + (1 - beta1) * p.grad
                v = beta2 * state.get("v", 0) + (1 - beta2) * p.grad**2
                state["m"], state["v"] = m, v
                ratio = (m / (1 - beta1**self.count)) / (
                    (v / (1 - beta2**self.count)).sqrt() + group["eps"])
                direction = ratio + group["wd"] * p
                p -= group["lr"] * p.norm() / direction.norm() * direction


class Lars(torch.optim.Optimizer):
    """You et al., arXiv 1708.03888, algorithm 1: the momentum sums steps, which
    the rate of their time has scaled. A group with adapt=False has a local
    rate of one."""

    def __init__(self, params, lr=0.1, momentum=0.9, weight_decay=0.0,
                 trust=1e-3, eps=1e-8, adapt=True):
        super().__init__(params, dict(lr=lr, momentum=momentum, trust=trust,
                                      weight_decay=weight_decay, eps=eps,
                                      adapt=adapt))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            wd = group["weight_decay"]
            for p in group["params"]:
                w, g = p.norm().item(), p.grad.norm().item()
                rate = 1.0
                if group["adapt"] and w > 0 and g > 0:
                    rate = group["trust"] * w / (g + wd * w + group["eps"])
                v = group["momentum"] * self.state[p].get("v", 0)
                v = v + group["lr"] * rate * (p.grad + wd * p)
                self.state[p]["v"] = v
                p -= v


def make_module(name):
    """The model of an ONNX file in this directory, which is a chain of linear
    layers with ReLU between them."""
    graph = onnx.load(HERE / f"{name}.onnx").graph
    tensors = {t.name: torch.from_numpy(onnx.numpy_helper.to_array(t).copy())
               for t in graph.initializer}
    layers = list(dict.fromkeys(n.rsplit(".", 1)[0] for n in tensors))
    module = nn.Sequential()
    for i, layer in enumerate(layers):
        if i:
            module.add_module(f"relu{i}", nn.ReLU())
        rows, columns = tensors[layer + ".weight"].shape
        module.add_module(layer, nn.Linear(columns, rows))
    module.load_state_dict(tensors)
    return module.double()


def load_batches(name):
    folder = HERE / f"{name}.data"
    inputs, labels = (torch.from_numpy(np.load(folder / f"{n}.npy"))
                      for n in ("input", "labels"))
    labels = labels.double() if labels.is_floating_point() else labels.long()
    count = len(inputs) // BATCH
    for step in range(STEPS):
        rows = slice(step % count * BATCH, (step % count + 1) * BATCH)
        yield inputs[rows].double(), labels[rows]


def fingerprints(module):
    return {n: fingerprint(p.detach()) for n, p in module.named_parameters()}


def train(model, make_optimizer, compute_loss, clip=None, ema=None):
    module = make_module(model)
    average = copy.deepcopy(module)
    optimizer = make_optimizer(module.parameters())
    run = dict(loss=[], grad_norm=[])
    for inputs, labels in load_batches(model):
        optimizer.zero_grad()
        loss = compute_loss(module(inputs), labels)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(module.parameters(),
                                        clip if clip else float("inf"))
        run["loss"].append(loss.item())
        run["grad_norm"].append(norm.item())
        optimizer.step()
        if ema:
            with torch.no_grad():
                for a, p in zip(average.parameters(), module.parameters()):
                    a.mul_(ema).add_(p, alpha=1 - ema)
    run["weights"] = fingerprints(module)
    if ema:
        run["averages"] = fingerprints(average)
    return run


def sgd(params):
    return torch.optim.SGD(params, lr=0.1)


def groups(make_optimizer, lr):
    """An optimizer of toy with no decay of biases and half the rate in net2."""
    def make(params):
        weight1, bias1, weight2, bias2 = params
        return make_optimizer([
            dict(params=[weight1]), dict(params=[bias1], weight_decay=0),
            dict(params=[weight2], lr=lr / 2),
            dict(params=[bias2], weight_decay=0, lr=lr / 2)])
    return make


def lars_groups(params):
    """LARS of toy without decay and local rates of biases."""
    weight1, bias1, weight2, bias2 = params
    return Lars([dict(params=[weight1, weight2]),
                 dict(params=[bias1, bias2], weight_decay=0, adapt=False)],
                lr=0.5, weight_decay=0.1, trust=0.05)


def digits(**options):
    return train("mlp-digits", sgd,
                 lambda y, t: F.cross_entropy(y, t, **options))


def main():
    optim = torch.optim
    weights = torch.arange(1, 11, dtype=torch.float64) / 4
    np.save(HERE / "class-weights.npy", weights.numpy())
    np.save(HERE / "class-weights-f32.npy", weights.float().numpy())
    report = {
        "clip": train("toy", lambda p: optim.SGD(p, 0.1, momentum=0.9),
                      F.mse_loss, clip=0.25),
        "clip-adamw-ema": train("toy", lambda p: optim.AdamW(p, 0.01),
                                F.mse_loss, clip=0.25, ema=0.75),
        "rmsprop": train("toy", optim.RMSprop, F.mse_loss),
        "rmsprop-momentum": train(
            "toy", lambda p: optim.RMSprop(p, 0.005, alpha=0.9, eps=1e-3,
                                           weight_decay=0.1, momentum=0.8),
            F.mse_loss),
        "adagrad": train("toy", optim.Adagrad, F.mse_loss),
        "adagrad-decay": train(
            "toy", lambda p: optim.Adagrad(p, 0.05, weight_decay=0.1,
                                           eps=1e-3), F.mse_loss),
        "lion": train("toy", Lion, F.mse_loss),
        "lion-decay": train(
            "toy", lambda p: Lion(p, 0.01, (0.8, 0.9), 0.1), F.mse_loss),
        "lamb": train("toy", Lamb, F.mse_loss),
        "lamb-decay": train(
            "toy", lambda p: Lamb(p, 0.05, (0.8, 0.9), 1e-4, 0.1),
            F.mse_loss),
        "lars": train("toy", Lars, F.mse_loss),
        "lars-decay": train(
            "toy", lambda p: Lars(p, 20, 0.8, 0.1, 0.01, 1e-4), F.mse_loss,
            clip=0.25),
        "lars-groups": train("toy", lars_groups, F.mse_loss),
        "lars-plain": train(
            "toy", lambda p: Lars(p, 20, 0, 0.1), F.mse_loss),
        "groups": train("toy", groups(
            lambda p: optim.AdamW(p, 0.01, weight_decay=0.1), 0.01),
            F.mse_loss, clip=0.25),
        "groups-sgd": train("toy", groups(
            lambda p: optim.SGD(p, 0.1, momentum=0.9, weight_decay=0.1), 0.1),
            F.mse_loss),
        "ignore": digits(ignore_index=3),
        "smoothing": digits(label_smoothing=0.1),
        "class-weights": digits(weight=weights),
        "smoothing-all": digits(weight=weights, label_smoothing=0.3,
                                ignore_index=3),
        "bce": train("toy", sgd, F.binary_cross_entropy_with_logits),
        "bce-sum": train(
            "toy", lambda p: optim.SGD(p, 0.001),
            lambda y, t: F.binary_cross_entropy_with_logits(
                y, t, reduction="sum")),
    }
    report["torch"] = torch.__version__
    (HERE / "training-options.json").write_text(
        json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
