"""MLPs and PyTorch's own transformer layers, with their default dropout."""

import math

import torch
from torch import nn

from model import Model, ids, vectors

WIDTH, HEADS, LENGTH = 32, 2, 12


def mlp():
    return Model(nn.Sequential(
        nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(),
        nn.Linear(64, 10)), [vectors(20)])


def mlp_dropout():
    return Model(nn.Sequential(
        nn.Linear(20, 64), nn.GELU(), nn.Dropout(0.2), nn.LayerNorm(64),
        nn.Linear(64, 64), nn.SiLU(), nn.Dropout(0.2), nn.Linear(64, 5)),
        [vectors(20)], loss="mse")


def mlp_batch_norm():
    return Model(nn.Sequential(
        nn.Linear(20, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Dropout(),
        nn.Linear(64, 1)), [vectors(20)], loss="bce")


def mlp_activations():
    layers = []
    for activation in (nn.ELU(), nn.SELU(), nn.CELU(), nn.Softplus(), nn.Mish(),
                       nn.LeakyReLU(0.1), nn.PReLU(), nn.Hardswish(),
                       nn.Hardsigmoid(), nn.Softsign(), nn.LogSigmoid(),
                       nn.ReLU6(), nn.GELU("tanh"), nn.Hardtanh(),
                       nn.Tanhshrink()):
        layers += [nn.Linear(16, 16), activation, nn.LayerNorm(16)]
    return Model(nn.Sequential(*layers, nn.Linear(16, 4)), [vectors(16)])


class _Sequences(nn.Module):
    """A body between an embedding of tokens and a linear layer."""

    def __init__(self, body, **options):
        super().__init__()
        self.embed = nn.Embedding(50, WIDTH)
        self.body = body
        self.head = nn.Linear(WIDTH, 50)

    def forward(self, ids):
        return self.head(self.body(self.embed(ids)))


def transformer_encoder():
    layer = nn.TransformerEncoderLayer(WIDTH, HEADS, 64, batch_first=True)
    return Model(_Sequences(nn.TransformerEncoder(layer, 2)), [ids(50, LENGTH)],
                 has_heads=True)


def transformer_encoder_norm_first():
    layer = nn.TransformerEncoderLayer(WIDTH, HEADS, 64, activation="gelu",
                                       batch_first=True, norm_first=True)
    return Model(_Sequences(nn.TransformerEncoder(
        layer, 2, norm=nn.LayerNorm(WIDTH), enable_nested_tensor=False)),
        [ids(50, LENGTH)], has_heads=True)


class _PositionalEncoding(nn.Module):
    """PyTorch's tutorial, time first."""

    def __init__(self, width, dropout=0.1, max_len=64):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        position = torch.arange(max_len).unsqueeze(1)
        rate = torch.exp(torch.arange(0, width, 2)
                         * (-math.log(10000.0) / width))
        table = torch.zeros(max_len, 1, width)
        table[:, 0, 0::2] = torch.sin(position * rate)
        table[:, 0, 1::2] = torch.cos(position * rate)
        self.register_buffer("pe", table)

    def forward(self, x):
        return self.dropout(x + self.pe[:x.size(0)])


class _TutorialModel(nn.Module):
    """The language model of PyTorch's tutorial, with the batch first in its argument
    and result."""

    def __init__(self, causal):
        super().__init__()
        self.causal = causal
        self.embed = nn.Embedding(50, WIDTH)
        self.position = _PositionalEncoding(WIDTH)
        layer = nn.TransformerEncoderLayer(WIDTH, HEADS, 64, 0.2)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(WIDTH, 50)

    def forward(self, ids):
        x = self.embed(ids.t()) * math.sqrt(WIDTH // 2)
        x = self.position(x)
        mask = None
        if self.causal:
            mask = nn.Transformer.generate_square_subsequent_mask(len(x))
        return self.head(self.encoder(x, mask)).transpose(0, 1)


def tutorial_transformer():
    return Model(_TutorialModel(False), [ids(50, LENGTH)], has_heads=True)


def tutorial_transformer_causal():
    return Model(_TutorialModel(True), [ids(50, LENGTH)], has_heads=True)


class _Translator(nn.Module):
    def __init__(self, **options):
        super().__init__()
        self.batch_first = options.get("batch_first", False)
        self.source = nn.Embedding(50, WIDTH)
        self.target = nn.Embedding(50, WIDTH)
        self.transformer = nn.Transformer(WIDTH, HEADS, 1, 1, 64, **options)
        self.head = nn.Linear(WIDTH, 50)

    def forward(self, source, target):
        x, y = self.source(source), self.target(target)
        if not self.batch_first:
            x, y = x.transpose(0, 1), y.transpose(0, 1)
        length = target.shape[1]
        mask = torch.triu(torch.full((length, length), float("-inf")), 1)
        y = self.transformer(x, y, tgt_mask=mask)
        return self.head(y if self.batch_first else y.transpose(0, 1))


def transformer():
    return Model(_Translator(batch_first=True), [ids(50, LENGTH), ids(50, 8)],
                 has_heads=True)


def transformer_time_first():
    return Model(_Translator(), [ids(50, LENGTH), ids(50, 8)], has_heads=True)


class _Attention(nn.Module):
    def __init__(self, need_weights, batch_first):
        super().__init__()
        self.need_weights = need_weights
        self.batch_first = batch_first
        self.inner = nn.MultiheadAttention(WIDTH, HEADS, dropout=0.1,
                                           batch_first=batch_first)
        self.norm = nn.LayerNorm(WIDTH)

    def forward(self, x):
        if not self.batch_first:
            x = x.transpose(0, 1)
        y, _ = self.inner(x, x, x, need_weights=self.need_weights)
        y = self.norm(x + y)
        return y if self.batch_first else y.transpose(0, 1)


def multihead_attention():
    return Model(_Sequences(_Attention(False, True)), [ids(50, LENGTH)],
                 has_heads=True)


def multihead_attention_weights():
    return Model(_Sequences(_Attention(True, True)), [ids(50, LENGTH)],
                 has_heads=True)


def multihead_attention_time_first():
    return Model(_Sequences(_Attention(False, False)), [ids(50, LENGTH)],
                 has_heads=True)


class _Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        layer = nn.TransformerDecoderLayer(WIDTH, HEADS, 64, batch_first=True)
        self.decoder = nn.TransformerDecoder(layer, 2)
        self.memory = nn.Parameter(torch.randn(1, 4, WIDTH))

    def forward(self, x):
        return self.decoder(x, self.memory.expand(x.shape[0], -1, -1))


def transformer_decoder():
    return Model(_Sequences(_Decoder()), [ids(50, LENGTH)], has_heads=True)
