"""Writes the models and references in the folder exports beside this file.

usage: make_exports.py [MODEL...]

Models whose parameters are hard to tell, exported as most people do it: by
dynamo as it is called by default (NAME-dynamo.onnx), by TorchScript
(NAME-torchscript.onnx) and by tools/export.py (NAME-tool.onnx). Also written
are NAME.data, four samples that every step trains on; NAME.parameters, the names
and shapes of PyTorch's named_parameters(); and exports.json, losses of five
steps in f64 under SGD and AdamW with the state dict after the last, as sum, norm
and product with a fixed vector (reference.py). Needs the packages of
bench/requirements.txt.
"""

import copy
import json
import sys
import warnings
from pathlib import Path

import numpy as np
import onnx
import torch
from torch import nn
from torch.nn import functional as F

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
from export import export as export_for_training  # noqa: E402
from models import round_constants
from reference import fingerprint

FOLDER = Path(__file__).parent / "exports"
STEPS = 5
OPTIMIZERS = dict(
    sgd=lambda p: torch.optim.SGD(p, lr=0.1),
    adamw=lambda p: torch.optim.AdamW(p, lr=1e-2, weight_decay=0.01))


class RMSNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        variance = x.pow(2).mean(-1, keepdim=True)
        return self.weight * (x * torch.rsqrt(variance + 1e-5))


class Attention(nn.Module):
    """With rotary tables as buffers, and a learned scale."""

    def __init__(self, width, heads, length):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width, bias=False)
        size = width // heads
        frequencies = 1.0 / 100.0 ** (torch.arange(0, size, 2) / size)
        angles = torch.outer(torch.arange(length).float(), frequencies)
        self.register_buffer("cos_table", angles.repeat(1, 2).cos())
        self.register_buffer("sin_table", angles.repeat(1, 2).sin())
        self.scale = nn.Parameter(torch.full((heads, 1, 1), size ** -0.5))

    def rotate(self, x):
        a, b = x.chunk(2, -1)
        return x * self.cos_table + torch.cat([-b, a], -1) * self.sin_table

    def forward(self, x):
        _, t, c = x.shape
        qkv = self.qkv(x).reshape(-1, t, 3, self.heads, c // self.heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)
        scores = self.rotate(q) @ self.rotate(k).transpose(-2, -1)
        values = (scores * self.scale).softmax(-1) @ v
        return self.out(values.transpose(1, 2).reshape(-1, t, c))


class Block(nn.Module):
    def __init__(self, width, heads, length):
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.attn = Attention(width, heads, length)
        self.norm2 = RMSNorm(width)
        self.fc = nn.Linear(width, 2 * width)
        self.proj = nn.Linear(2 * width, width)
        nn.init.zeros_(self.fc.bias)
        nn.init.zeros_(self.proj.bias)

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.proj(F.silu(self.fc(self.norm2(x))))


class Language(nn.Module):
    """Norms and zero biases that are equal, layers that start as copies of one
    another, looked-up positions, a head that is the table."""

    def __init__(self, vocabulary=20, width=16, heads=2, length=8):
        super().__init__()
        self.wte = nn.Embedding(vocabulary, width)
        self.wpe = nn.Embedding(length, width)
        block = Block(width, heads, length)
        self.blocks = nn.ModuleList(copy.deepcopy(block) for _ in range(2))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)
        self.head.weight = self.wte.weight

    def forward(self, ids):
        x = self.wte(ids) + self.wpe(torch.arange(ids.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


class Vision(nn.Module):
    """A class token, learned and sinusoidal positions, slopes of PReLU, a
    matrix and a number as parameters, a convolution whose bias is zero."""

    def __init__(self, width=8):
        super().__init__()
        self.stem = nn.Conv2d(1, width, 3, stride=2, padding=1)
        nn.init.zeros_(self.stem.bias)
        self.act = nn.PReLU(width)
        self.conv = nn.Conv2d(width, width, 3, stride=2, padding=1)
        self.cls_token = nn.Parameter(torch.randn(1, 1, width))
        self.pos_embed = nn.Parameter(torch.randn(1, 5, width))
        angles = torch.arange(5.0)[:, None] / 10 ** (torch.arange(width) / 8)
        even = torch.arange(width) % 2 == 0
        self.register_buffer("pe", torch.where(even, angles.sin(),
                                               angles.cos()))
        self.mix = nn.Parameter(torch.randn(width, width) / 3)
        self.temperature = nn.Parameter(torch.tensor(0.75))
        self.head = nn.Linear(width, 4)

    def forward(self, x):
        x = self.act(self.stem(x))
        x = F.relu(self.conv(x)).flatten(2).transpose(1, 2)
        token = self.cls_token.expand(x.shape[0], -1, -1)
        x = torch.cat([token, x], 1) + self.pos_embed + self.pe
        x = torch.tanh(x @ self.mix) * self.temperature
        return self.head(x[:, 0] + x.mean(1))


class Images(nn.Module):
    """Two batch norms, which default exports merge with the convolutions."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 4, 3, padding=1)
        self.bn1 = nn.BatchNorm2d(4)
        self.conv2 = nn.Conv2d(4, 4, 3)
        self.bn2 = nn.BatchNorm2d(4)
        self.unused = nn.Linear(4, 4)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        return F.relu(self.bn2(self.conv2(x))).mean((2, 3))


class Coordinates(nn.Module):
    """Products with buffers, which TorchScript's files do not tell apart."""

    def __init__(self):
        super().__init__()
        self.register_buffer("frequencies", torch.randn(8, 8))
        self.register_buffer("projection", torch.randn(8, 8))
        self.out = nn.Linear(8, 4)

    def forward(self, x):
        return self.out((x @ self.frequencies).sin() @ self.projection)


class Folded(nn.Module):
    """Products with what TorchScript computes of parameters, beside layers whose
    weights it transposes."""

    def __init__(self):
        super().__init__()
        self.masked = nn.Linear(8, 8)
        self.register_buffer("mask", torch.ones(8, 8).tril())
        self.mix = nn.Parameter(torch.randn(8, 8))
        self.norm = nn.LayerNorm(8)
        self.attn = nn.MultiheadAttention(8, 2, batch_first=True)
        self.out = nn.Linear(8, 4, bias=False)

    def forward(self, x):
        x = x + F.linear(x, self.masked.weight * self.mask, self.masked.bias)
        x = self.norm(x @ self.mix.softmax(0))
        return self.out(self.attn(x, x, x, need_weights=False)[0])


class Stateful(nn.Module):
    """Parts that are lost or change in training: a buffer that forward averages, alpha
    dropout, a norm that is merged with a linear layer, a layer whose input is
    known, numbers that are taken out of a parameter, a divisor's small term."""

    def __init__(self):
        super().__init__()
        self.register_buffer("average", torch.zeros(8))
        self.first = nn.Linear(8, 8)
        self.norm = nn.BatchNorm1d(8, affine=False)
        self.drop = nn.AlphaDropout(0.1)
        self.state = nn.Linear(8, 8)
        self.mix = nn.Parameter(torch.randn(2))

    def forward(self, x):
        h = self.drop(F.selu(self.norm(self.first(x))))
        self.average = 0.9 * self.average + 0.1 * h.mean(0).detach()
        shares = self.mix.softmax(0)
        h = h - self.average + self.state(torch.zeros(1, 8)) * self.state(h)
        h = shares[0] * h + shares[1] * h.tanh()
        return h / (F.relu(h).sum(-1, keepdim=True) + 1e-9)


class OffsetNorm(nn.Module):
    """Gemma's: trains what is added to one."""

    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.randint(-99, 99, (width,)) / 512.)

    def forward(self, x):
        output = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 2.0 ** -16)
        return output * (1.0 + self.weight.to(x.dtype))


class ResponseNorm(nn.Module):
    """ConvNeXt V2's: two views in one line."""

    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(width))
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, x):
        y = x.norm(p=2, dim=1, keepdim=True)
        y = x * y / (y.mean(-1, keepdim=True) + 2.0 ** -16)
        s = 1, 1, -1
        return torch.addcmul(self.bias.view(s), self.weight.view(s), y) + x


class Tokens(nn.Module):
    """Two tokens that begin alike."""

    def __init__(self, width):
        super().__init__()
        self.first = nn.Parameter(torch.ones(1, 1, width))
        self.second = nn.Parameter(torch.ones(1, 1, width))

    def forward(self, x):
        s = x.shape[0], -1, -1
        return torch.cat([self.first.expand(s), self.second.expand(s), x], 1)


class Computed(nn.Module):
    """Dynamo's computations with parameters, and tensors that it merges."""

    def __init__(self, width=16):
        super().__init__()
        self.tokens = Tokens(width)
        self.norm = OffsetNorm(width)
        self.response = ResponseNorm(width)
        self.before = nn.LayerNorm(width)
        self.after = nn.LayerNorm(width)
        nn.init.constant_(self.after.bias, 0.25)
        self.fc = nn.Linear(width, width)
        self.gate = nn.Linear(width, width)
        self.memory = nn.Parameter(torch.randn(1, 4, width))
        self.cross = nn.MultiheadAttention(width, 1, batch_first=True)
        self.scale = nn.Parameter(torch.tensor(-1.0))
        self.head = nn.Linear(width, 4)

    def forward(self, x):
        x = self.norm(self.tokens(x))
        x = x + self.response(torch.tanh(x))
        x = x + self.fc(self.before(x)) * self.gate(self.after(x)).sigmoid()
        x = x + torch.tanh(x) @ self.fc.weight.T
        memory = self.memory.expand(x.shape[0], -1, -1)
        x = x + self.cross(x, memory, memory, need_weights=False)[0]
        return self.head(x.mean(1)) * self.scale.exp()


class Copied(nn.Module):
    """A network and its copy, whose calls dynamo merges."""

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(8, 8), nn.ReLU())
        self.old = copy.deepcopy(self.net)

    def forward(self, x):
        return self.net(x) - self.old(x).tanh()


class Reused(nn.Module):
    """A product with a weight that a module uses as it is."""

    def __init__(self):
        super().__init__()
        self.out = nn.Linear(8, 8)

    def forward(self, x):
        return self.out(x) + x @ (2 * self.out.weight)


class Distances(nn.Module):
    """A table of biases by distance that one layer looks up for two."""

    def __init__(self, width=16, heads=2, length=6):
        super().__init__()
        self.heads = heads
        self.table = nn.Embedding(2 * length, heads)
        places = torch.arange(length)
        self.distances = (places[None] - places[:, None]).abs() + 3
        self.layers = nn.ModuleList(nn.Linear(width, 3 * width)
                                    for _ in range(2))
        self.head = nn.Linear(width, 4)

    def forward(self, x):
        bias = self.table(self.distances).permute(2, 0, 1)[None]
        bias = bias.expand(x.shape[0], -1, -1, -1)
        for layer in self.layers:
            b, t, c = x.shape
            q, k, v = (part.reshape(b, t, self.heads, -1).transpose(1, 2)
                       for part in layer(x).chunk(3, -1))
            y = ((q @ k.transpose(-2, -1)) * 0.25 + bias).softmax(-1) @ v
            x = x + y.transpose(1, 2).reshape(b, t, c)
        return self.head(x.mean(1))


class Detached(nn.Module):
    """Gradients that stop: at an activation and what a call computes of it, at a
    parameter, at one of two equal operands, at a rounding that is passed
    straight through."""

    def __init__(self, width=8):
        super().__init__()
        self.encode = nn.Linear(width, width)
        self.gate = nn.Linear(width, width)
        self.centre = nn.Parameter(torch.randn(width))
        self.out = nn.Linear(width, 4)

    def forward(self, x):
        h = torch.tanh(self.encode(x))
        code = h + (torch.floor(4 * h) - h).detach()
        gate = torch.sigmoid(self.gate(h.detach()))
        y = gate * (code - self.centre) + h * h.detach()
        y = y + torch.tanh(h * self.centre.detach()).detach().view(-1, 2, 4).sum(
            1, keepdim=True).expand(-1, 2, -1).flatten(1) * h
        return self.out(y)


class NoGrad(nn.Module):
    """Targets of another branch, which tools/export.py detaches, whose layers
    are tied; a layer that forward does not use, which it keeps; a small number,
    of which it makes no zero."""

    def __init__(self, width=8):
        super().__init__()
        self.body = Detached(width)
        self.other = nn.Linear(4, 4)
        self.unused = nn.Linear(4, 2)
        self.teacher, self.echo = nn.Linear(4, 4), nn.Linear(4, 4)
        self.echo.weight = self.teacher.weight

    def forward(self, x):
        y = self.body(x)
        with torch.no_grad():
            target = torch.tanh(self.echo(self.teacher(self.other(y)))) * 2
            scale = target.abs().amax(-1, keepdim=True)
        return self.other(y) * target / (scale + 1) + torch.log(
            F.relu(y.detach()) + 1e-9) / 100


class Siamese(nn.Module):
    """Batch norms that are used three times, with and without weights: dynamo
    copies their statistics, TorchScript the constants in place of weights."""

    def __init__(self, width=8):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(width, 4), nn.BatchNorm1d(4),
                                  nn.BatchNorm1d(4, affine=False))

    def forward(self, x):
        return self.body(x) + self.body(-x) + self.body(2 * x)


class Recurrent(nn.Module):
    """A cell whose first state is zero: of that the exporter computes a layer,
    whose result a node takes apart that has no metadata."""

    def __init__(self, width=8):
        super().__init__()
        self.cell = nn.GRUCell(width, width)

    def forward(self, x):
        h = torch.zeros_like(x)
        for _ in range(2):
            h = self.cell(x, h)
        return h


class Sequence(nn.Module):
    """Layers of which ONNX has operators with weights of their own form: two
    directions and layers, no biases, and a first state that is computed."""

    def __init__(self, width=6, hidden=4):
        super().__init__()
        self.table = nn.Embedding(20, width)
        self.lstm = nn.LSTM(width, hidden, num_layers=2, bidirectional=True,
                            batch_first=True)
        self.gru = nn.GRU(2 * hidden, hidden, batch_first=True)
        self.plain = nn.LSTM(hidden, hidden, bias=False, batch_first=True)
        self.rnn = nn.RNN(hidden, hidden, nonlinearity="relu",
                          batch_first=True)
        self.out = nn.Linear(hidden, 4)

    def forward(self, x):
        y, (last, _) = self.lstm(self.table(x))
        y, _ = self.gru(y, last[1:2])
        y, _ = self.plain(y)
        y, _ = self.rnn(y)
        return self.out(y)


class Branches(nn.Module):
    """An if on the batch, which TorchScript keeps: a branch of the file reads
    what layers outside of it compute, and layers of its own."""

    def __init__(self, width=8):
        super().__init__()
        self.first = nn.Linear(width, 6)
        self.inner = nn.Linear(6, 6)
        self.out = nn.Linear(6, 4)

    def forward(self, x):
        y = self.first(x)
        if y.size(0) > 2:
            y = torch.relu(self.inner(y)) + y
        else:
            y = torch.tanh(y)
        return self.out(y)


class Half(nn.Module):
    """All of it in 16 bits: positions, which the exporter looks up, and a token,
    which it expands."""

    def __init__(self, width=8):
        super().__init__()
        self.table = nn.Embedding(20, width)
        self.position = nn.Embedding(5, width)
        self.hidden = nn.Linear(width, 2 * width)
        self.token = nn.Parameter(torch.randn(1, 1, width))
        self.norm = nn.LayerNorm(2 * width)
        self.out = nn.Linear(2 * width, 4)
        self.to(torch.bfloat16)

    def forward(self, x):
        y = self.table(x) + self.position(torch.arange(x.shape[1]))
        y = y * self.token.expand(x.shape[0], -1, -1)
        return self.out(self.norm(F.relu(self.hidden(y))))


class Spectra(nn.Module):
    """Power of frames of a signal, a convolution whose weights are standardized,
    as of BiT, and a Fourier transform of its result, as of FNet."""

    def __init__(self):
        super().__init__()
        self.register_buffer("window", torch.hann_window(8))
        self.conv = nn.Conv1d(5, 6, 3)
        self.out = nn.Linear(30, 4)

    def forward(self, x):
        frames = torch.stft(x, 8, 4, window=self.window, center=False,
                            return_complex=True)
        power = torch.view_as_real(frames).pow(2).sum(-1).log1p()
        weight = F.batch_norm(self.conv.weight.reshape(1, 6, -1), None, None,
                              training=True, momentum=0.0, eps=1e-6)
        y = F.conv1d(power, weight.reshape(6, 5, 3), self.conv.bias)
        y = y + torch.fft.fft(y).real + torch.fft.rfft(y, n=8).imag
        return self.out(y.flatten(1))


class TimeMajor(nn.Module):
    """PyTorch's modules as they are by default: [tokens, batch, width]."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20, 8)
        self.block = nn.TransformerEncoderLayer(8, 2, 16, dropout=0)
        self.lstm = nn.LSTM(8, 6)
        self.out = nn.Linear(6, 20)

    def forward(self, x):
        return self.out(self.lstm(self.block(self.embed(x)))[0])


class Volumes(nn.Module):
    """A convolution without bias, to which the exporter gives zeros of a shape
    that no bias has."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv3d(1, 3, 2, padding=1, bias=False)
        self.norm = nn.GroupNorm(1, 3)
        self.pool = nn.MaxPool3d(2)
        self.out = nn.Linear(24, 4)

    def forward(self, x):
        return self.out(self.pool(self.norm(self.conv(x))).flatten(1))


class Padded(nn.Module):
    """Token 0 fills sequences on the left: a query there sees no key, and
    attention has a result of zeros. The exporter writes the lowest number where
    the boolean mask hides."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20, 8)
        self.qkv = nn.Linear(8, 24)
        self.out = nn.Linear(8, 20)

    def forward(self, x):
        h = self.qkv(self.embed(x)).unflatten(-1, (3, 2, 4))
        q, k, v = h.permute(2, 0, 3, 1, 4)
        seen = torch.ones(5, 5, dtype=torch.bool).tril() & (
            x != 0)[:, None, None, :]
        h = F.scaled_dot_product_attention(q, k, v, attn_mask=seen)
        return self.out(h.transpose(1, 2).flatten(2))


def make_padded():
    x = torch.randint(1, 20, (4, 5))
    x[1, :3] = x[3, :1] = 0
    return x, torch.randint(0, 20, (4, 5))


MODELS = dict(
    branches=(Branches, lambda: (torch.randn(4, 8),
                                 torch.randint(0, 4, (4,)))),
    half=(Half, lambda: (torch.randint(0, 20, (4, 5)),
                         torch.randint(0, 4, (4, 5)))),
    detached=(Detached, lambda: (torch.randn(4, 8),
                                 torch.randint(0, 4, (4,)))),
    nograd=(NoGrad, lambda: (torch.randn(4, 8), torch.randint(0, 4, (4,)))),
    computed=(Computed, lambda: (torch.randn(4, 5, 16),
                                 torch.randint(0, 4, (4,)))),
    distances=(Distances, lambda: (torch.randn(4, 6, 16),
                                   torch.randint(0, 4, (4,)))),
    coordinates=(Coordinates, None),
    folded=(Folded, None),
    stateful=(Stateful, None),
    language=(Language, lambda: (torch.randint(0, 20, (4, 8)),
                                 torch.randint(0, 20, (4, 8)))),
    images=(Images, None),
    padded=(Padded, make_padded),
    recurrent=(Recurrent, lambda: (torch.randn(4, 8),
                                   torch.randint(0, 8, (4,)))),
    reused=(Reused, None),
    copied=(Copied, None),
    siamese=(Siamese, None),
    spectra=(Spectra, lambda: (torch.randn(4, 32),
                               torch.randint(0, 4, (4,)))),
    sequence=(Sequence, lambda: (torch.randint(0, 20, (4, 5)),
                                 torch.randint(0, 4, (4, 5)))),
    time_major=(TimeMajor, lambda: (torch.randint(0, 20, (5, 4)),
                                    torch.randint(0, 20, (5, 4)))),
    volumes=(Volumes, lambda: (torch.randn(4, 1, 3, 4, 3),
                               torch.randint(0, 4, (4,)))),
    vision=(Vision, lambda: (torch.randn(4, 1, 8, 8),
                             torch.randint(0, 4, (4,)))))


def shrink(path):
    """Without what nobody reads; of where a node comes from, the line."""
    file = onnx.load(path)
    for node in file.graph.node:
        for entry in list(node.metadata_props):
            if entry.key == "pkg.torch.onnx.stack_trace":
                entry.value = entry.value.rstrip().rsplit("\n", 1)[-1]
            elif entry.key not in ("pkg.torch.onnx.fx_node",
                                   "pkg.torch.onnx.name_scopes"):
                node.metadata_props.remove(entry)
        node.doc_string = ""
    del file.graph.value_info[:]
    onnx.save(file, path)


def export(module, inputs, name):
    exporters = dict(dynamo=dict(external_data=False))
    if name == "folded":  # in training mode: attention is one operator else
        exporters = dict(torchscript=dict(
            dynamo=False, training=torch.onnx.TrainingMode.PRESERVE))
    if name == "siamese":
        exporters["dynamo"]["optimize"] = False
        exporters["torchscript"] = dict(
            dynamo=False, training=torch.onnx.TrainingMode.TRAINING,
            do_constant_folding=False)
    if name in ("folded", "siamese", "stateful"):
        module = copy.deepcopy(module).train()
    if name == "branches":
        module = torch.jit.script(module)
        exporters = dict(torchscript=dict(
            dynamo=False, dynamic_axes={"x": {0: "batch"}}))
    if name == "time_major":
        batch = torch.export.Dim("batch", min=2, max=64)
        exporters["dynamo"]["dynamic_shapes"] = {"x": {1: batch}}
    if name in ("nograd", "spectra", "volumes"):
        path = FOLDER / f"{name}-tool.onnx"
        export_for_training(copy.deepcopy(module), {"x": inputs}, path)
        return shrink(path)
    if name in ("language", "vision", "images", "coordinates", "sequence"):
        exporters["torchscript"] = dict(dynamo=False)
    for exporter, options in exporters.items():
        path = FOLDER / f"{name}-{exporter}.onnx"
        torch.onnx.export(copy.deepcopy(module), (inputs,), path,
                          input_names=["x"], verbose=False, **options)
        shrink(path)


def train(module, inputs, labels, make_optimizer):
    module = copy.deepcopy(module).double()
    if inputs.is_floating_point():
        inputs = inputs.double()
    optimizer = make_optimizer(module.parameters())
    run = dict(loss=[], grad_norm=[])
    for _ in range(STEPS):
        optimizer.zero_grad()
        logits = module(inputs)
        loss = F.cross_entropy(logits.flatten(0, -2), labels.flatten())
        loss.backward()
        run["loss"].append(loss.item())
        run["grad_norm"].append(float(sum(
            p.grad.norm() ** 2 for p in module.parameters()
            if p.grad is not None) ** 0.5))
        optimizer.step()
    run["weights"] = {name: fingerprint(tensor)
                      for name, tensor in module.state_dict().items()}
    return run


def main():
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / "exports.json"
    report = json.loads(path.read_text()) if path.exists() else {}
    for name in sys.argv[1:] or MODELS:
        torch.manual_seed(7)
        make, sample = MODELS[name]
        module = make().eval()
        if sample is None:  # of interest for what the importer says alone
            shape = dict(folded=(4, 5, 8), siamese=(4, 8),
                         stateful=(4, 8),
                         copied=(4, 8)).get(name, (4, 1, 8, 8))
            export(module, torch.randn(shape), name)
            continue
        inputs, labels = sample()
        round_constants(module)
        data = FOLDER / f"{name}.data"
        data.mkdir(exist_ok=True)
        for key, array in dict(x=inputs, labels=labels).items():
            if name == "time_major":  # data are samples
                array = array.T
            np.save(data / f"{key}.npy", array.contiguous().numpy())
        export(module, inputs, name)
        if name != "distances":  # of whose table the file lacks rows
            (FOLDER / f"{name}.parameters").write_text("".join(sorted(
                f"{key} {'x'.join(map(str, p.shape))}\n"
                for key, p in module.named_parameters())))
        report[name] = {key: train(module, inputs, labels, make_optimizer)
                        for key, make_optimizer in OPTIMIZERS.items()}
    path.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
