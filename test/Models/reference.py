"""Runs a PyTorch module in double precision as the same function as its ONNX file.

A file keeps constants in float32. In f64 the file and the module are one function
only under two conditions. The module must round its constants, too. It must use f64
for ops that always use float32 (tables of angles, softmax, norms). Dropout is off,
because its masks are random.
"""

import contextlib
import copy

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

from model import BATCH, STEPS

SGD_LR = 0.05
ADAMW = dict(lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01)


def as_f32(value):
    return float(np.float32(value))


# The exporter folds with NumPy's arithmetic.
TABLES = {torch.Tensor.sin: np.sin, torch.Tensor.cos: np.cos}


class FileArithmetic(TorchFunctionMode):
    """Runs float32 operations in float64 and rounds constants to float32, among
    them sines and cosines if the file has tables of them."""

    def __init__(self, has_tables):
        super().__init__()
        self.has_tables = has_tables

    def __torch_function__(self, function, types, args=(), kwargs=None):
        if function is torch.Tensor.float:
            return args[0].double()
        if self.has_tables and function in TABLES:
            angles = args[0].numpy().astype(np.float32)
            return torch.from_numpy(TABLES[function](angles)).to(torch.float64)
        convert = lambda value: (
            torch.float64 if value is torch.float32 else
            as_f32(value) if type(value) is float else value)
        return function(*map(convert, args),
                        **{k: convert(v) for k, v in (kwargs or {}).items()})


def keep(x, *args, **kwargs):
    return x


def hardsigmoid(x, inplace=False):
    """Computes ONNX's HardSigmoid, whose slope is an attribute in float32."""
    return (x * as_f32(1 / 6) + 0.5).clamp(0, 1)


def selu(x, inplace=False):
    """Computes ONNX's Selu, whose constants are attributes in float32."""
    scale, alpha = as_f32(1.0507009873554805), as_f32(1.6732632423543772)
    return scale * torch.where(x > 0, x, alpha * torch.expm1(x))


@contextlib.contextmanager
def file_functions():
    """Replaces PyTorch's functions by those of a file, without dropout."""
    attention = F.scaled_dot_product_attention

    def plain_attention(query, key, value, attn_mask=None, dropout_p=0.0,
                        *args, **kwargs):
        return attention(query, key, value, attn_mask, 0.0, *args, **kwargs)

    patches = {F: dict(scaled_dot_product_attention=plain_attention,
                       hardsigmoid=hardsigmoid, selu=selu, **{
        name: keep for name in ("dropout", "dropout1d", "dropout2d", "dropout3d",
                                "alpha_dropout", "feature_alpha_dropout")}),
               torch: dict(dropout=keep)}
    saved = [(owner, name, getattr(owner, name))
             for owner, names in patches.items() for name in names]
    for owner, names in patches.items():
        for name, replacement in names.items():
            setattr(owner, name, replacement)
    try:
        yield
    finally:
        for owner, name, original in saved:
            setattr(owner, name, original)


def double(module):
    """Returns a copy in f64 without stochastic depth or dropout between layers."""
    module = copy.deepcopy(module).double().train()
    for child in module.modules():
        kind = type(child).__name__
        if kind == "StochasticDepth":
            child.p = 0.0
        elif kind.endswith("DropPath"):
            child.drop_prob = 0.0
        elif isinstance(child, nn.RNNBase):
            child.dropout = 0.0
        if isinstance(child, nn.modules.batchnorm._BatchNorm):
            child.momentum = 1 - as_f32(1 - child.momentum)  # ONNX's definition
    return module


def first_output(result):
    """Returns the tensor that is the file's first output."""
    if hasattr(result, "logits"):
        return result.logits
    if hasattr(result, "to_tuple"):
        result = result.to_tuple()
    return result[0] if isinstance(result, (tuple, list)) else result


def compute_loss(model, outputs, labels):
    if model.loss == "mse":
        return F.mse_loss(outputs, labels)
    if model.loss == "bce":
        return F.binary_cross_entropy_with_logits(outputs, labels)
    outputs = outputs.movedim(model.class_axis, -1)
    return F.cross_entropy(outputs.flatten(0, -2), labels.flatten())


def forward(model, module, rows, dtype):
    inputs = [torch.from_numpy(array[rows]) for array in model.inputs]
    return first_output(module(*(
        x.to(dtype) if x.is_floating_point() else x for x in inputs)))


def make_labels(model):
    """Returns labels of the shape that the outputs need."""
    random = np.random.default_rng(1)
    with torch.no_grad():
        outputs = forward(model, copy.deepcopy(model.module), slice(BATCH),
                          torch.float32)
    shape = [len(model.inputs[0]), *outputs.shape[1:]]
    if model.loss == "mse":
        return random.standard_normal(shape, np.float32)
    if model.loss == "bce":
        return random.integers(0, 2, shape).astype(np.float32)
    classes = shape.pop(model.class_axis)
    return random.integers(0, classes, shape)


def train(model, labels, make_optimizer):
    """Trains and returns the losses of the steps and the norms of their gradients."""
    module = double(model.module)
    optimizer = make_optimizer(module.parameters())
    losses, norms = [], []
    for step in range(STEPS):
        rows = slice(step * BATCH, (step + 1) * BATCH)
        with file_functions(), FileArithmetic(model.has_tables):
            outputs = forward(model, module, rows, torch.float64)
        targets = torch.from_numpy(labels[rows])
        if targets.is_floating_point():
            targets = targets.double()
        loss = compute_loss(model, outputs, targets)
        optimizer.zero_grad()
        loss.backward()
        norms.append(sum(float((p.grad ** 2).sum()) for p in module.parameters()
                         if p.grad is not None) ** 0.5)
        optimizer.step()
        losses.append(loss.item())
    return dict(loss=losses, grad_norm=norms)


def train_with_both(model, labels):
    default = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        return dict(
            sgd=train(model, labels, lambda p: torch.optim.SGD(p, SGD_LR)),
            adamw=train(model, labels,
                        lambda p: torch.optim.AdamW(p, **ADAMW)))
    finally:
        torch.set_default_dtype(default)
