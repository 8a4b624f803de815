"""What the files in zoo/ return: a module, its data and how it is trained."""

from dataclasses import dataclass, field

import numpy as np
from torch import nn

BATCH = 8
STEPS = 3
ROWS = BATCH * STEPS


@dataclass
class Model:
    """`inputs` are one array for each argument of forward, ROWS samples each.
    `has_heads`: tensor parallelism divides it. `has_tables`: its files hold sines
    and cosines of positions, computed in float32 by the exporter. The loss is of the
    first output; `options` are dtc's, beyond those that every model has."""

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
    """Indices from 1, since 0 is often padding, to count - 1."""
    return _random().integers(1, count, (ROWS, *shape))


def ones(*shape):
    """An attention mask without padding."""
    return np.ones((ROWS, *shape), np.int64)
