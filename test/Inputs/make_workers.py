"""Writes workers.json: losses, gradient norms and weights after 20 steps of four
workers, in f64. If workers train apart, losses and norms are those of the first,
and weights are the mean. If a server updates the weights, losses and norms are
means over the workers' shares of a step, and arrivals-CASE.txt has the order of
what the server did.

usage: make_workers.py

An independent simulation of local SGD (arXiv 1805.09767), DiLoCo (2311.08105),
D-PSGD (1705.09056), one-peer exponential graphs (2110.13363), and of bounded
staleness (Ho et al., NIPS 2013) with rates by staleness (1511.05950): PyTorch
trains each worker on its samples, NumPy averages and mixes. Takes models and
data as make_compression.py does. Needs the packages of bench/requirements.txt.
"""

import json
import random

import numpy as np
import torch
from torch.nn import functional as F

from make_compression import (HERE, STEPS, WORKERS, fingerprint, load_batches,
                              load_module)


# ---------------------------------------------------------------------------
# Mixing matrices: row i has the weights of worker i
# ---------------------------------------------------------------------------

def circulant(weights):
    """Worker i takes weights[s] of worker i + s."""
    matrix = np.zeros((WORKERS, WORKERS))
    for worker in range(WORKERS):
        for shift, weight in weights:
            matrix[worker, (worker + shift) % WORKERS] += weight
    return matrix


def ring(step):
    return circulant([(-1, 1 / 3), (0, 1 / 3), (1, 1 / 3)])


def torus(step):
    """A grid of 2 x 2: both neighbours in a row are one worker."""
    matrix = np.zeros((WORKERS, WORKERS))
    for row in range(2):
        for column in range(2):
            own = 2 * row + column
            for other in (own, 2 * (1 - row) + column, 2 * (1 - row) + column,
                          2 * row + 1 - column, 2 * row + 1 - column):
                matrix[own, other] += 1 / 5
    return matrix


def exponential(step):
    return circulant([(0, 1 / 3), (1, 1 / 3), (2, 1 / 3)])


def one_peer(step):
    return circulant([(0, 1 / 2), (2 ** ((step - 1) % 2), 1 / 2)])


def mix(matrix, values):
    return [sum(matrix[i, j] * values[j] for j in range(WORKERS))
            for i in range(WORKERS)]


# ---------------------------------------------------------------------------
# Synchronisations: after a step, from the old and the new values of all workers
# ---------------------------------------------------------------------------

class Every:
    """A tensor is averaged after steps whose number is `turn(tensor)` modulo
    the period, by Nesterov's momentum if there is an outer rate."""

    def __init__(self, period, rate=None, momentum=0, turn=lambda key: 0):
        self.period, self.turn = period, turn
        self.rate, self.momentum = rate, momentum
        self.anchors, self.velocities = {}, {}

    def start(self, key, value):
        self.anchors[key] = value

    def __call__(self, key, old, new, step):
        if step % self.period != self.turn(key):
            return new
        mean = sum(new) / WORKERS
        if self.rate is not None:
            change = self.anchors[key] - mean
            velocity = self.momentum * self.velocities.get(key, 0) + change
            mean = self.anchors[key] - self.rate * (
                change + self.momentum * velocity)
            self.anchors[key], self.velocities[key] = mean, velocity
        return [mean] * WORKERS


class Gossip:
    """x(t + 1) = W x(t) + (update of x(t)), or W of the updated values."""

    def __init__(self, matrix, after=False):
        self.matrix, self.after = matrix, after

    def start(self, key, value):
        pass

    def __call__(self, key, old, new, step):
        if self.after:
            return mix(self.matrix(step), new)
        mixed = mix(self.matrix(step), old)
        return [m + n - o for m, n, o in zip(mixed, new, old)]


# ---------------------------------------------------------------------------
# Training
# ---------------------------------------------------------------------------

def train(name, sync, make_optimizer, weights=True):
    modules = [load_module(name) for _ in range(WORKERS)]
    optimizers = [make_optimizer(m.parameters()) for m in modules]
    named = [dict(m.named_parameters()) for m in modules]
    for key, parameter in named[0].items():
        sync.start(key, parameter.detach().numpy().copy())
    run = dict(loss=[], grad_norm=[])
    for step, (inputs, labels) in enumerate(load_batches(name), start=1):
        old = {key: [own[key].detach().numpy().copy() for own in named]
               for key in named[0]}
        for worker, rows in enumerate(zip(inputs.chunk(WORKERS),
                                          labels.chunk(WORKERS))):
            optimizers[worker].zero_grad()
            loss = F.cross_entropy(modules[worker](rows[0]).flatten(0, -2),
                                   rows[1].flatten())
            loss.backward()
            norm = torch.nn.utils.clip_grad_norm_(
                modules[worker].parameters(), float("inf"))
            optimizers[worker].step()
            if worker == 0:
                run["loss"].append(loss.item())
                run["grad_norm"].append(norm.item())
        with torch.no_grad():
            for key in named[0]:
                new = [own[key].numpy().copy() for own in named]
                for own, value in zip(named, sync(key, old[key], new, step)):
                    own[key].copy_(torch.from_numpy(np.asarray(value)))
    if weights:
        run["weights"] = {
            key: fingerprint(sum(own[key].detach() for own in named) / WORKERS)
            for key in named[0]}
    return run


# ---------------------------------------------------------------------------
# A server
# ---------------------------------------------------------------------------

def draw_order(ahead, seed):
    """A random order of events that the rule allows: ("give", step, share,
    worker) and ("apply", step, share)."""
    draw = random.Random(seed)
    shares = [(step, share) for step in range(1, STEPS + 1)
              for share in range(WORKERS)]
    idle, holders, order = list(range(1, WORKERS + 1)), {}, []
    while shares or holders:
        oldest = min(holders, default=shares[0] if shares else None)
        may_give = shares and idle and shares[0][0] - oldest[0] <= ahead
        if may_give and (not holders or draw.random() < 0.6):
            share = shares.pop(0)
            worker = idle.pop(draw.randrange(len(idle)))
            holders[share] = worker
            order.append(("give", *share, worker))
        else:
            share = draw.choice(sorted(holders))
            idle.append(holders.pop(share))
            order.append(("apply", *share))
    return order


def serve(name, case, ahead, make_optimizer, by_staleness=False, weights=True,
          clip=float("inf")):
    """A push is applied to newer weights than those that it was computed with."""
    order = draw_order(ahead, seed=case)
    lines = [f"dtc-arrivals 1 workers {WORKERS}"]
    lines += [" ".join(map(str, event)) for event in order]
    (HERE / f"arrivals-{case}.txt").write_text("\n".join(lines) + "\n")
    module = load_module(name)
    parameters = list(module.parameters())
    optimizer = make_optimizer(parameters)
    base = optimizer.param_groups[0]["lr"]
    batches = list(load_batches(name))
    losses, norms = np.zeros((2, STEPS, WORKERS))
    updates, pushed = 0, {}
    for kind, step, share, *_ in order:
        if kind == "give":  # computed now, with the weights of now
            inputs, labels = (part.chunk(WORKERS)[share]
                              for part in batches[step - 1])
            optimizer.zero_grad()
            loss = F.cross_entropy(module(inputs).flatten(0, -2),
                                   labels.flatten())
            loss.backward()
            norms[step - 1, share] = torch.nn.utils.clip_grad_norm_(
                parameters, clip)
            losses[step - 1, share] = loss.item()
            pushed[step, share] = (updates, [p.grad.clone() for p in parameters])
            continue
        given, gradients = pushed.pop((step, share))
        divisor = max(1, updates - given) if by_staleness else WORKERS
        optimizer.param_groups[0]["lr"] = base / divisor
        for parameter, gradient in zip(parameters, gradients):
            parameter.grad = gradient
        optimizer.step()
        updates += 1
    run = dict(loss=losses.mean(1).tolist(), grad_norm=norms.mean(1).tolist())
    if weights:
        run["weights"] = {key: fingerprint(value.detach())
                          for key, value in module.named_parameters()}
    return run


def sgd(parameters):
    return torch.optim.SGD(parameters, 0.05, momentum=0.9)


def adamw(parameters):
    return torch.optim.AdamW(parameters, 1e-3)


def digits(sync):
    return train("mlp-digits", sync, sgd)


def gpt2(sync):
    return train("gpt2-tiny", sync, adamw, weights=False)


def main():
    # Two fragments of about as many elements, half a period apart: fc1 has
    # 8320 elements, fc2 and fc3 have 8906.
    turns = {"fc1.weight": 2, "fc1.bias": 2}
    report = {
        "every": digits(Every(5)),
        "every-nesterov": digits(Every(5, 0.7, 0.9)),
        "every-fragments": digits(Every(4, turn=lambda k: turns.get(k, 0))),
        "ring": digits(Gossip(ring)),
        "torus": digits(Gossip(torus)),
        "exponential": digits(Gossip(exponential)),
        "one-peer": digits(Gossip(one_peer, after=True)),
        "gpt2-every": gpt2(Every(5, 0.7, 0.9)),
        "gpt2-ring": gpt2(Gossip(ring)),
        "async": serve("mlp-digits", "async", 2, sgd),
        "async-staleness": serve("mlp-digits", "async-staleness", 4, sgd,
                                 by_staleness=True, clip=0.5),
        "gpt2-async": serve("gpt2-tiny", "gpt2-async", 1, adamw, weights=False),
    }
    (HERE / "workers.json").write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
