"""Writes modules/: small modules whose values the compiler may confuse, since
they are equal, begin alike or are one up to a reshape, with data and PyTorch
references as make_inputs.py writes them.

usage: make_modules.py [MODULE...]

Needs the packages of bench/requirements.txt.
"""

import argparse
import copy
import sys
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file
from torch import nn

from make_exports import shrink
from make_inputs import export, write_data
from models import Model, Projection
from reference import write_reference

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
import export as training  # noqa: E402

ROWS, LENGTH, WIDTH, CLASSES = 64, 6, 8, 5


class Rotary(nn.Module):
    """An attention of two heads whose queries and keys are rotated by halves,
    as in Llama, but by angles that are data: there are no tables."""

    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = (Projection(WIDTH, WIDTH) for _ in range(3))
        self.o = Projection(WIDTH, WIDTH)
        self.head = nn.Linear(WIDTH, CLASSES)

    def forward(self, x):
        half = x[:, None, :, :WIDTH // 4].tanh()
        cos = torch.cat([half, half], -1)
        sin = (1 - cos * cos).sqrt()

        def split(y):
            return y.reshape(-1, LENGTH, 2, WIDTH // 2).transpose(1, 2)

        def rotate(y):
            a, b = y.chunk(2, -1)
            return y * cos + torch.cat([-b, a], -1) * sin

        q, k = rotate(split(self.q(x))), rotate(split(self.k(x)))
        y = (q @ k.transpose(-2, -1)).softmax(-1) @ split(self.v(x))
        y = y.transpose(1, 2).reshape(-1, LENGTH, WIDTH)
        return self.head(self.o(y).mean(1))


class Concats(nn.Module):
    """Two concatenations that begin with the same part."""

    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2 * WIDTH, CLASSES)
        self.b = nn.Linear(2 * WIDTH, CLASSES)

    def forward(self, x):
        return (self.a(torch.cat([x, x.tanh()], -1))
                + self.b(torch.cat([x, x.sigmoid()], -1)))


class Biases(nn.Module):
    """Two biases with one gradient: the buckets of two layers begin alike."""

    def __init__(self):
        super().__init__()
        self.a = nn.Linear(WIDTH, CLASSES)
        self.b = nn.Linear(WIDTH, CLASSES)

    def forward(self, x):
        return self.a(x) + self.b(torch.tanh(x))


class Bias(nn.Module):
    """A bias and a parameter of another shape with the same gradient."""

    def __init__(self, *shape):
        super().__init__()
        self.l = Projection(WIDTH, WIDTH)
        self.p = nn.Parameter(torch.randn(*shape))
        self.head = nn.Linear(WIDTH, CLASSES)

    def forward(self, x):
        y = self.l(x) + self.p
        return self.head(y.tanh().mean(1) if y.dim() == 3 else y.tanh())


class Residual(nn.Module):
    """A lookup and a linear layer of it get one gradient."""

    def __init__(self):
        super().__init__()
        self.e = nn.Embedding(11, WIDTH)
        self.l = Projection(WIDTH, WIDTH)
        self.head = nn.Linear(WIDTH, CLASSES)

    def forward(self, ids):
        v = self.e(ids)
        v = v + torch.tanh(self.l(v))
        return self.head(v.mean(1))


class Block(nn.Module):
    """An attention and an MLP on a stream that nothing normalizes."""

    def __init__(self):
        super().__init__()
        self.e = Projection(WIDTH, WIDTH)
        self.q, self.k, self.v = (Projection(WIDTH, WIDTH) for _ in range(3))
        self.o = Projection(WIDTH, WIDTH)
        self.up = Projection(WIDTH, 4 * WIDTH)
        self.down = Projection(4 * WIDTH, WIDTH)
        self.head = nn.Linear(WIDTH, CLASSES)

    def forward(self, x):
        def split(y):
            return y.reshape(-1, LENGTH, 2, WIDTH // 2).transpose(1, 2)

        x = self.e(x)
        q, k, v = split(self.q(x)), split(self.k(x)), split(self.v(x))
        y = (q @ k.transpose(-2, -1)).softmax(-1) @ v
        x = x + self.o(y.transpose(1, 2).reshape(-1, LENGTH, WIDTH))
        x = x + self.down(self.up(x).relu())
        return self.head(x.mean(1))


class Encoder(nn.Module):
    """A layer of PyTorch's own, whose attention turns [batch, sequence] into
    rows with the sequence in front; the MLP has the batch in front."""

    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(WIDTH, 2, 2 * WIDTH, dropout=0,
                                                batch_first=True)
        self.head = nn.Linear(WIDTH, CLASSES)

    def forward(self, x):
        return self.head(self.layer(x).mean(1))


class Routing(nn.Module):
    """Experts of which two answer for a token, by gates that are put at computed
    indices; and a mask of the largest scores."""

    def __init__(self, experts=4):
        super().__init__()
        self.router = nn.Linear(WIDTH, experts)
        self.experts = nn.ModuleList(Projection(WIDTH, WIDTH)
                                     for _ in range(experts))
        self.head = nn.Linear(WIDTH, CLASSES)

    def forward(self, x):
        scores = self.router(x)
        best, places = scores.topk(2, dim=-1)
        gates = torch.full_like(scores, float("-inf"))
        gates = gates.scatter(-1, places, best).softmax(-1)
        outputs = torch.stack([expert(x) for expert in self.experts], -1)
        x = x + (outputs * gates[..., None, :]).sum(-1)
        _, large = x.transpose(1, 2).topk(3, dim=1)
        kept = torch.zeros_like(x.transpose(1, 2), dtype=torch.bool)
        kept = kept.scatter(1, large, torch.ones_like(large).bool())
        return self.head(x.masked_fill(~kept.transpose(1, 2), 0).mean(1))


class LargestQueries(nn.Module):
    """Attention of the queries with the largest scores alone; the others' result
    is the mean of the values (Informer's)."""

    def __init__(self, heads=2):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.head = nn.Linear(WIDTH, CLASSES)

    def forward(self, x):
        width = WIDTH // self.heads
        q, k, v = (part.unflatten(-1, (self.heads, width)).transpose(1, 2)
                   for part in self.qkv(x).chunk(3, -1))
        scores = q @ k.transpose(-1, -2) / width ** 0.5
        _, places = (scores.amax(-1) - scores.mean(-1)).topk(2, dim=-1)
        places = places.unsqueeze(-1)
        top = scores.gather(2, places.expand(-1, -1, -1, LENGTH)).softmax(-1) @ v
        y = v.mean(2, keepdim=True).expand(-1, -1, LENGTH, -1)
        y = y.scatter(2, places.expand(-1, -1, -1, width), top)
        return self.head((x + y.transpose(1, 2).flatten(2)).mean(1))


class Probe(nn.Module):
    """A learned query for each sample, and products of all samples with all."""

    def __init__(self):
        super().__init__()
        self.probe = nn.Parameter(torch.randn(1, 1, WIDTH))
        self.attention = nn.MultiheadAttention(WIDTH, 2, batch_first=True)
        self.head = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        probe = self.probe.repeat(x.shape[0], 1, 1)
        y = self.attention(probe, x, x, need_weights=False)[0][:, 0]
        return (self.head(x.mean(1)) @ y.t()).t()


class Causal(nn.Module):
    """Positions attend to those before them; time is first between."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(11, WIDTH)
        self.attention = nn.MultiheadAttention(WIDTH, 2, batch_first=True)
        self.head = nn.Linear(WIDTH, CLASSES)

    def forward(self, x):
        x = self.embed(x)
        mask = torch.triu(torch.full((LENGTH, LENGTH), float("-inf")), 1)
        y = self.attention(x, x, x, attn_mask=mask, need_weights=False)[0]
        return self.head((x + y).tanh().mean(1))


class Taught(nn.Module):
    """A layer beside a teacher's, whose weight is a buffer, which the exporter
    stores as its transpose."""

    def __init__(self):
        super().__init__()
        self.register_buffer("teacher", torch.randn(7, WIDTH))
        self.body = nn.Linear(WIDTH, 7)
        self.head = nn.Linear(7, CLASSES)

    def forward(self, x):
        y = self.body(x) * nn.functional.linear(x, self.teacher)
        return self.head(y.tanh().mean(1))


class Recurrent(nn.Module):
    """A layer whose weights have far more elements than what they are
    multiplied with."""

    def __init__(self, hidden=128):
        super().__init__()
        self.lstm = nn.LSTM(WIDTH, hidden, batch_first=True)
        self.head = nn.Linear(hidden, CLASSES)

    def forward(self, x):
        y, (_, cell) = self.lstm(x)
        return self.head(y.mean(1) + cell[0])


class Packed(nn.Module):
    """Sequences of different lengths, which PyTorch sorts and puts back."""

    def __init__(self, hidden=6):
        super().__init__()
        self.gru = nn.GRU(WIDTH, hidden, 2, batch_first=True, bidirectional=True)
        self.head = nn.Linear(3 * hidden, CLASSES)

    def forward(self, x):
        lengths = 1 + (x[:, 1:, 0] > 0).sum(1)
        packed = nn.utils.rnn.pack_padded_sequence(
            x, lengths, batch_first=True, enforce_sorted=False)
        y, states = self.gru(packed)
        y, lengths = nn.utils.rnn.pad_packed_sequence(
            y, batch_first=True, total_length=LENGTH)
        mean = y.sum(1) / lengths.unsqueeze(1).to(y.dtype)
        return self.head(torch.cat([mean, states[-1]], -1))


class Sorted(nn.Module):
    """Sequences that the model sorts by length and puts back itself."""

    def __init__(self, hidden=6):
        super().__init__()
        self.gru = nn.GRU(WIDTH, hidden, batch_first=True)
        self.head = nn.Linear(hidden, CLASSES)

    def forward(self, x):
        lengths = 1 + (x[:, 1:, 0] > 0).sum(1)
        order = lengths.argsort(descending=True)
        packed = nn.utils.rnn.pack_padded_sequence(
            x[order], lengths[order], batch_first=True)
        y = nn.utils.rnn.pad_packed_sequence(
            self.gru(packed)[0], batch_first=True, total_length=LENGTH)[0]
        return self.head(y[order.argsort()].sum(1))


class OwnRows(nn.Module):
    """Rows that each sample has chosen, of which TorchScript makes lookups in
    the rows of all: batch first, with time first, by two coordinates; and an
    element of each row, five times."""

    def __init__(self):
        super().__init__()
        self.body = nn.Linear(WIDTH, WIDTH)
        self.head = nn.Linear(3 * WIDTH + 6, CLASSES)

    def forward(self, x):
        y = self.body(x).tanh()
        sample = torch.arange(x.shape[0])
        last = x[:, :, 0].argmax(1)
        two = torch.stack([last, x[:, :, 1].argmax(1)], 1)
        parts = [y.transpose(0, 1)[last, sample],
                 y[sample[:, None], two].flatten(1),
                 y[sample, last, two[:, 1]][:, None],
                 y.gather(2, last[:, None, None].expand(-1, LENGTH, 5)).sum(1)]
        return self.head(torch.cat(parts, -1))


class Standardized(nn.Module):
    """Means of the batch, and means of what is made of them."""

    def __init__(self):
        super().__init__()
        self.body = nn.Linear(WIDTH, WIDTH)
        self.head = nn.Linear(WIDTH, CLASSES)

    def forward(self, x):
        x = (x - x.mean(0)) / (x.std(0) + 1e-4)
        return self.head(self.body(x).tanh())


class Scaled(nn.Module):
    """The largest of the batch."""

    def __init__(self):
        super().__init__()
        self.head = nn.Linear(WIDTH, CLASSES)

    def forward(self, x):
        return self.head(x / x.abs().amax(0))


class Columns(nn.Module):
    """Columns that index tables of their own, of different sizes."""

    SIZES = 3, 7, 11, 5

    def __init__(self):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(size, WIDTH)
                                    for size in self.SIZES)
        self.head = nn.Linear(len(self.SIZES) * WIDTH, CLASSES)

    def forward(self, x):
        rows = [table(x[:, i]) for i, table in enumerate(self.tables)]
        return self.head(torch.cat(rows, -1))


class Prototypes(nn.Module):
    """Rows of weights that are divided by their norm, which padding has not."""

    def __init__(self):
        super().__init__()
        self.body = nn.Linear(WIDTH, 2 * WIDTH)
        self.rows = nn.Parameter(torch.randn(CLASSES, 2 * WIDTH))

    def forward(self, x):
        rows = self.rows / self.rows.norm(dim=-1, keepdim=True)
        return self.body(x).tanh() @ rows.t()


class Repeated(nn.Module):
    """One layer many times, in stages and chunks of stages, and its input each
    time; another branch."""

    def __init__(self):
        super().__init__()
        self.again = nn.Linear(WIDTH, WIDTH)
        self.other, self.head = nn.Linear(WIDTH, 3), nn.Linear(WIDTH + 3, CLASSES)

    def forward(self, x):
        y = x
        for _ in range(5):
            y = torch.tanh(self.again(y) + x)
        return self.head(torch.cat([y, self.other(x).sigmoid()], -1))


class Largest(nn.Module):
    """The largest of the positions of each channel, by its value and its place,
    of elements that are made again in the backward pass."""

    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.a, self.b = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)
        self.head = nn.Linear(3 * WIDTH, CLASSES)

    def forward(self, x):
        normal = self.norm(x + self.a(x))
        curved = nn.functional.silu(self.b(normal))
        chosen = curved.gather(1, curved.argmax(1, keepdim=True)).squeeze(1)
        largest = normal == normal.amax(1, keepdim=True)
        return self.head(torch.cat([normal.max(1)[0] + curved.amax(1), chosen,
                                    (normal * largest).sum(1)], -1) / 4)


class Held(nn.Module):
    """A parameter and a buffer that the model reads from a dict and a list of its
    own, as cells of ncps do."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(WIDTH, WIDTH) / 2)
        self.register_buffer("shift", torch.rand(WIDTH), persistent=False)
        self.held, self.listed = {"weight": self.weight}, [self.shift]
        self.head = nn.Linear(WIDTH, CLASSES)

    def forward(self, x):
        return self.head(torch.tanh(x @ self.held["weight"] + self.listed[0]))


MODULES = {
    "rotary": (Rotary, (LENGTH, WIDTH)),
    "concats": (Concats, (WIDTH,)),
    "biases": (Biases, (WIDTH,)),
    "bias-1x8": (lambda: Bias(1, WIDTH), (WIDTH,)),
    "bias-1x1x8": (lambda: Bias(1, 1, WIDTH), (LENGTH, WIDTH)),
    "residual": (Residual, (LENGTH,)),
    "block": (Block, (LENGTH, WIDTH)),
    "encoder": (Encoder, (LENGTH, WIDTH)),
    "routing": (Routing, (LENGTH, WIDTH)),
    "largest-queries": (LargestQueries, (LENGTH, WIDTH)),
    "probe": (Probe, (LENGTH, WIDTH)),
    "causal": (Causal, (LENGTH,)),
    "taught": (Taught, (LENGTH, WIDTH)),
    "recurrent": (Recurrent, (2 * LENGTH, WIDTH)),
    "packed": (Packed, (LENGTH, WIDTH)),
    "sorted": (Sorted, (LENGTH, WIDTH)),
    "own-rows": (OwnRows, (LENGTH, WIDTH)),
    "standardized": (Standardized, (WIDTH,)),
    "scaled": (Scaled, (WIDTH,)),
    "columns": (Columns, (len(Columns.SIZES),)),
    "prototypes": (Prototypes, (WIDTH,)),
    "repeated": (Repeated, (WIDTH,)),
    "held": (Held, (WIDTH,)),
    "largest": (Largest, (LENGTH, WIDTH)),
}


def write_states(module, folder):
    """The state dict in PyTorch's order of elements, and one of another
    teacher."""
    state = {name: tensor.float().contiguous()
             for name, tensor in module.state_dict().items()}
    save_file(state, folder / "taught.state.safetensors")
    save_file(state | {"teacher": state["teacher"] + 1},
              folder / "taught.other.safetensors")


def make(name):
    torch.manual_seed(6)
    maker, shape = MODULES[name]
    module = maker()
    random = np.random.default_rng(6)
    if isinstance(module, (Residual, Causal)):
        inputs = random.integers(0, 11, (ROWS, *shape)).astype(np.int64)
    elif isinstance(module, Columns):
        inputs = random.integers(0, Columns.SIZES, (ROWS, *shape))
    else:
        inputs = random.standard_normal((ROWS, *shape), np.float32)
    labels = random.integers(0, CLASSES, ROWS).astype(np.uint8)
    return Model(name, module, "x", "logits", inputs, labels,
                 "cross-entropy", 0.1)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("modules", nargs="*", metavar="MODULE")
    folder = Path(__file__).parent / "modules"
    folder.mkdir(exist_ok=True)
    torch.set_num_threads(1)
    for name in parser.parse_args().modules or MODULES:
        model = make(name)
        path = folder / f"{name}.onnx"
        # Names of weights, and how they are computed, are dynamo's to tell.
        if name in ("recurrent", "prototypes", "taught"):
            torch.onnx.export(copy.deepcopy(model.module),
                              (model.batch(0, 2, torch.float32)[0],), path,
                              input_names=["x"], verbose=False,
                              external_data=False,
                              optimize=name != "prototypes")
            shrink(path)
        elif name in ("packed", "sorted", "own-rows"):  # TorchScript's
            torch.onnx.export(copy.deepcopy(model.module).float(),
                              (model.batch(0, 4, torch.float32)[0],), path,
                              input_names=["x"], output_names=["logits"],
                              dynamic_axes=dict(x={0: "batch"}), dynamo=False)
        elif name == "held":  # which others export as constants
            training.export(copy.deepcopy(model.module).float(),
                            dict(x=model.batch(0, 4, torch.float32)[0]), path)
            shrink(path)
        else:
            export(model, path)
        if name == "taught":  # nothing is trained
            write_states(model.module, folder)
            continue
        write_data(model, folder / f"{name}.data")
        write_reference(model, folder, lambda name, tensor: tensor.numel() <= 8192)


if __name__ == "__main__":
    main()
