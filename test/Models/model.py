"""The result of functions in zoo/: a module, its data and its training options."""

from dataclasses import dataclass, field

import numpy as np
from torch import nn

BATCH = 8
STEPS = 3
ROWS = BATCH * STEPS


@dataclass
class Model:
    """`inputs` has one array for each argument of forward, ROWS samples each.
    `has_heads`: tensor parallelism divides the model. `has_tables`: its files hold
    sines and cosines of positions, which the exporter computed in float32. The loss
    reads the first output. `options` are options of dtc in addition to those of
    every model."""

    module: nn.Module
    inputs: list
    loss: str = "cross-entropy"
    has_heads: bool = False
    has_tables: bool = False
    class_axis: int = -1
    options: list = field(default_factory=list)


def _random():
    return np.random.default_rng(0)


def images(size, channels=3):
    return _random().standard_normal((ROWS, channels, size, size), np.float32)


def vectors(*shape):
    return _random().standard_normal((ROWS, *shape), np.float32)


def ids(count, *shape):
    """Returns indices from 1 to count - 1, because 0 is often padding."""
    return _random().integers(1, count, (ROWS, *shape))


def ones(*shape):
    """Returns an attention mask without padding."""
    return np.ones((ROWS, *shape), np.int64)
