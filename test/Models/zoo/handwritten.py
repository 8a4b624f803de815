"""Modules in the style of users."""

import math

import torch
from torch import nn
from torch.nn import functional as F

from model import Model, ids, images, vectors


class _SelfAttention(nn.Module):
    """nanoGPT's: one projection, a mask kept in a buffer."""

    def __init__(self, width, heads, length):
        super().__init__()
        self.heads = heads
        self.c_attn = nn.Linear(width, 3 * width)
        self.c_proj = nn.Linear(width, width)
        self.attn_dropout, self.resid_dropout = nn.Dropout(0.1), nn.Dropout(0.1)
        self.register_buffer("bias", torch.tril(torch.ones(length, length))
                             .view(1, 1, length, length))

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = self.c_attn(x).split(C, dim=2)
        k = k.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        q = q.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        v = v.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        att = att.masked_fill(self.bias[:, :, :T, :T] == 0, float("-inf"))
        y = self.attn_dropout(F.softmax(att, dim=-1)) @ v
        y = y.transpose(1, 2).contiguous().view(B, T, C)
        return self.resid_dropout(self.c_proj(y))


class _Block(nn.Module):
    def __init__(self, width, heads, length):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attn = _SelfAttention(width, heads, length)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(),
                                 nn.Linear(4 * width, width), nn.Dropout(0.1))

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class _NanoGpt(nn.Module):
    def __init__(self, vocabulary=65, length=16, width=32, heads=2, layers=2):
        super().__init__()
        self.wte = nn.Embedding(vocabulary, width)
        self.wpe = nn.Embedding(length, width)
        self.drop = nn.Dropout(0.1)
        self.h = nn.ModuleList(_Block(width, heads, length)
                               for _ in range(layers))
        self.ln_f = nn.LayerNorm(width)
        self.lm_head = nn.Linear(width, vocabulary, bias=False)
        self.wte.weight = self.lm_head.weight

    def forward(self, idx):
        pos = torch.arange(0, idx.size(1), dtype=torch.long, device=idx.device)
        x = self.drop(self.wte(idx) + self.wpe(pos))
        for block in self.h:
            x = block(x)
        return self.lm_head(self.ln_f(x))


def nanogpt():
    return Model(_NanoGpt(), [ids(65, 16)], has_heads=True)


class _RMSNorm(nn.Module):
    def __init__(self, width, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True)
                               + self.eps) * self.weight


def _rotate_half(x):
    a, b = x.chunk(2, dim=-1)
    return torch.cat((-b, a), dim=-1)


class _LlamaBlock(nn.Module):
    """Grouped queries, rotary embeddings, a gated MLP."""

    def __init__(self, width, heads, kv_heads, length):
        super().__init__()
        self.heads, self.kv_heads, self.size = heads, kv_heads, width // heads
        self.wq = nn.Linear(width, width, bias=False)
        self.wk = nn.Linear(width, kv_heads * self.size, bias=False)
        self.wv = nn.Linear(width, kv_heads * self.size, bias=False)
        self.wo = nn.Linear(width, width, bias=False)
        self.w1 = nn.Linear(width, 2 * width, bias=False)
        self.w2 = nn.Linear(2 * width, width, bias=False)
        self.w3 = nn.Linear(width, 2 * width, bias=False)
        self.norm1, self.norm2 = _RMSNorm(width), _RMSNorm(width)
        angles = torch.outer(torch.arange(length).float(), 10000.0 ** (
            -torch.arange(0, self.size, 2).float() / self.size))
        angles = torch.cat([angles, angles], -1)
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)

    def attend(self, x):
        B, T, C = x.shape
        q = self.wq(x).view(B, T, self.heads, self.size).transpose(1, 2)
        k = self.wk(x).view(B, T, self.kv_heads, self.size).transpose(1, 2)
        v = self.wv(x).view(B, T, self.kv_heads, self.size).transpose(1, 2)
        q = q * self.cos[:T] + _rotate_half(q) * self.sin[:T]
        k = k * self.cos[:T] + _rotate_half(k) * self.sin[:T]
        repeats = self.heads // self.kv_heads
        k, v = (t.repeat_interleave(repeats, dim=1) for t in (k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.wo(y.transpose(1, 2).reshape(B, T, C))

    def forward(self, x):
        x = x + self.attend(self.norm1(x))
        h = self.norm2(x)
        return x + self.w2(F.silu(self.w1(h)) * self.w3(h))


class _Llama(nn.Module):
    def __init__(self, vocabulary=64, length=16, width=64):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.layers = nn.ModuleList(_LlamaBlock(width, 4, 2, length)
                                    for _ in range(2))
        self.norm = _RMSNorm(width)
        self.output = nn.Linear(width, vocabulary, bias=False)

    def forward(self, tokens):
        x = self.embed(tokens)
        for layer in self.layers:
            x = layer(x)
        return self.output(self.norm(x))


def llama():
    return Model(_Llama(), [ids(64, 16)], has_heads=True)


class _MixerBlock(nn.Module):
    def __init__(self, tokens, width):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.tokens = nn.Sequential(nn.Linear(tokens, 32), nn.GELU(),
                                    nn.Linear(32, tokens))
        self.channels = nn.Sequential(nn.Linear(width, 64), nn.GELU(),
                                      nn.Linear(64, width))

    def forward(self, x):
        x = x + self.tokens(self.norm1(x).transpose(1, 2)).transpose(1, 2)
        return x + self.channels(self.norm2(x))


class _Mixer(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.embed = nn.Conv2d(3, width, 8, 8)
        self.blocks = nn.Sequential(*(_MixerBlock(16, width) for _ in range(2)))
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        x = self.embed(x).flatten(2).transpose(1, 2)
        return self.head(self.blocks(x).mean(1))


def mlp_mixer():
    return Model(_Mixer(), [images(32)])


class _GatingUnit(nn.Module):
    def __init__(self, width, length):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.spatial = nn.Conv1d(length, length, 1)
        nn.init.constant_(self.spatial.bias, 1.0)

    def forward(self, x):
        u, v = x.chunk(2, dim=-1)
        return u * self.spatial(self.norm(v))


class _Gmlp(nn.Module):
    def __init__(self, length=12, width=16):
        super().__init__()
        self.embed = nn.Embedding(50, width)
        self.norm = nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 64), nn.Linear(32, width)
        self.gate = _GatingUnit(32, length)
        self.head = nn.Linear(width, 50)

    def forward(self, x):
        x = self.embed(x)
        x = x + self.down(self.gate(F.gelu(self.up(self.norm(x)))))
        return self.head(x)


def gmlp():
    return Model(_Gmlp(), [ids(50, 12)])


class _ClassToken(nn.Module):
    """A ViT with a class token and positions, written out."""

    def __init__(self, width=32, heads=2):
        super().__init__()
        self.heads = heads
        self.patch = nn.Linear(48, width)
        self.token = nn.Parameter(torch.randn(1, 1, width))
        self.position = nn.Parameter(torch.randn(1, 17, width))
        self.norm = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        b = x.shape[0]
        x = x.unfold(2, 4, 4).unfold(3, 4, 4)
        x = x.permute(0, 2, 3, 1, 4, 5).reshape(b, 16, 48)
        x = self.patch(x)
        x = torch.cat([self.token.repeat(b, 1, 1), x], dim=1) + self.position
        q, k, v = self.qkv(self.norm(x)).reshape(
            b, 17, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        a = (q @ k.transpose(-1, -2) / 4.0).softmax(-1) @ v
        x = x + self.proj(a.transpose(1, 2).flatten(2))
        return self.head(x[:, 0])


def vit_class_token():
    return Model(_ClassToken(), [images(16)], has_heads=True)


class _SqueezeExcite(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.fc1 = nn.Conv2d(channels, channels // 4, 1)
        self.fc2 = nn.Conv2d(channels // 4, channels, 1)

    def forward(self, x):
        s = x.mean((2, 3), keepdim=True)
        return x * torch.sigmoid(self.fc2(F.relu(self.fc1(s))))


class _Residual(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1)
        self.norm1 = nn.GroupNorm(4, channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1)
        self.norm2 = nn.GroupNorm(4, channels)
        self.se = _SqueezeExcite(channels)

    def forward(self, x):
        y = F.silu(self.norm1(self.conv1(x)))
        return F.silu(x + self.se(self.norm2(self.conv2(y))))


def group_norm_resnet():
    return Model(nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1), _Residual(16), nn.AvgPool2d(2),
        _Residual(16), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
        nn.Linear(16, 10)), [images(16)])


class _TextCnn(nn.Module):
    """Kim 2014: windows of several widths, the maximum over time."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(50, 16)
        self.convs = nn.ModuleList(nn.Conv1d(16, 8, k) for k in (2, 3, 4))
        self.drop = nn.Dropout(0.5)
        self.fc = nn.Linear(24, 5)

    def forward(self, ids):
        x = self.embed(ids).permute(0, 2, 1)
        x = torch.cat([F.relu(conv(x)).max(dim=2)[0] for conv in self.convs], 1)
        return self.fc(self.drop(x))


def text_cnn():
    return Model(_TextCnn(), [ids(50, 12)])


class _TemporalBlock(nn.Module):
    def __init__(self, inputs, outputs, dilation):
        super().__init__()
        self.pad = 2 * dilation
        self.conv = nn.Conv1d(inputs, outputs, 3, padding=self.pad,
                              dilation=dilation)
        self.skip = nn.Conv1d(inputs, outputs, 1)

    def forward(self, x):
        y = self.conv(x)[:, :, :-self.pad]
        return F.relu(y.relu() + self.skip(x))


class _Tcn(nn.Module):
    """A causal convolutional network over time series."""

    def __init__(self):
        super().__init__()
        self.blocks = nn.Sequential(_TemporalBlock(4, 8, 1),
                                    _TemporalBlock(8, 8, 2),
                                    _TemporalBlock(8, 8, 4))
        self.head = nn.Linear(8, 2)

    def forward(self, x):
        return self.head(self.blocks(x.transpose(1, 2))[:, :, -1])


def tcn():
    return Model(_Tcn(), [vectors(20, 4)], loss="mse")


class _WaveNet(nn.Module):
    def __init__(self, channels=8):
        super().__init__()
        self.first = nn.Conv1d(1, channels, 1)
        self.gates = nn.ModuleList(
            nn.Conv1d(channels, 2 * channels, 2, dilation=2 ** i)
            for i in range(3))
        self.outs = nn.ModuleList(nn.Conv1d(channels, channels, 1)
                                  for i in range(3))
        self.last = nn.Conv1d(channels, 16, 1)

    def forward(self, x):
        x = self.first(x.unsqueeze(1))
        skips = 0
        for i, (gate, out) in enumerate(zip(self.gates, self.outs)):
            y = gate(F.pad(x, (2 ** i, 0)))
            a, b = y.chunk(2, 1)
            y = out(torch.tanh(a) * torch.sigmoid(b))
            skips = skips + y
            x = x + y
        return self.last(F.relu(skips))


def wavenet():
    return Model(_WaveNet(), [vectors(16)], class_axis=1)


class _Graph(nn.Module):
    """Two graph convolutions on a dense, normalized adjacency matrix."""

    def __init__(self):
        super().__init__()
        self.w1, self.w2 = nn.Linear(8, 16), nn.Linear(16, 3)

    def forward(self, x, adjacency):
        a = torch.sigmoid(adjacency)
        a = a / a.sum(-1, keepdim=True)
        return self.w2(a @ F.relu(self.w1(a @ x)))


def graph_convolution():
    return Model(_Graph(), [vectors(6, 8), vectors(6, 6)])


class _Experts(nn.Module):
    """A dense mixture of experts by einsum."""

    def __init__(self, width=16, experts=4):
        super().__init__()
        self.gate = nn.Linear(width, experts)
        self.w1 = nn.Parameter(torch.randn(experts, width, 32) * 0.1)
        self.w2 = nn.Parameter(torch.randn(experts, 32, width) * 0.1)
        self.head = nn.Linear(width, 5)

    def forward(self, x):
        weights = self.gate(x).softmax(-1)
        h = torch.einsum("btd,edh->bteh", x, self.w1).relu()
        y = torch.einsum("bteh,ehd->bted", h, self.w2)
        return self.head(x + (y * weights.unsqueeze(-1)).sum(2))


def experts():
    return Model(_Experts(), [vectors(6, 16)])


class _Highway(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.h, self.t = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x):
        t = torch.sigmoid(self.t(x))
        return F.relu(self.h(x)) * t + x * (1 - t)


def highway():
    return Model(nn.Sequential(_Highway(), _Highway(), nn.Linear(16, 3)),
                 [vectors(16)])


class _FourierFeatures(nn.Module):
    """A coordinate network: fixed random frequencies in a buffer."""

    def __init__(self):
        super().__init__()
        self.register_buffer("frequencies", torch.randn(2, 16))
        self.net = nn.Sequential(nn.Linear(32, 32), nn.SiLU(), nn.Linear(32, 3))

    def forward(self, x):
        y = x @ self.frequencies
        return self.net(torch.cat([y.sin(), y.cos()], -1))


def fourier_features():
    return Model(_FourierFeatures(), [vectors(2)], loss="mse")


class _Conditioned(nn.Module):
    """A denoiser with embeddings of time and scale-and-shift norms."""

    def __init__(self, width=32):
        super().__init__()
        self.time = nn.Sequential(nn.Linear(16, width), nn.SiLU(),
                                  nn.Linear(width, 2 * width))
        self.inp, self.out = nn.Linear(8, width), nn.Linear(width, 8)
        self.norm = nn.LayerNorm(width, elementwise_affine=False)
        self.register_buffer("rates", torch.exp(
            -math.log(1000) * torch.arange(8) / 8))

    def forward(self, x, t):
        angles = t.float()[:, None] * self.rates[None]
        embedding = torch.cat([angles.sin(), angles.cos()], dim=-1)
        scale, shift = self.time(embedding).chunk(2, dim=-1)
        h = self.norm(self.inp(x)) * (1 + scale) + shift
        return self.out(F.silu(h))


def denoiser():
    return Model(_Conditioned(), [vectors(8), ids(100)], loss="mse")


class _LearnedQueries(nn.Module):
    """Perceiver: learned latents attend to the inputs."""

    def __init__(self, width=32):
        super().__init__()
        self.latents = nn.Parameter(torch.randn(4, width))
        self.inputs = nn.Linear(8, width)
        self.attention = nn.MultiheadAttention(width, 2, batch_first=True)
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, 5)

    def forward(self, x):
        x = self.inputs(x)
        q = self.latents.unsqueeze(0).repeat(x.size(0), 1, 1)
        y, _ = self.attention(q, x, x)
        return self.head(self.norm(q + y).mean(dim=1))


def perceiver():
    return Model(_LearnedQueries(), [vectors(10, 8)], has_heads=True)


class _Siamese(nn.Module):
    """Two inputs through one network; deep copies of a layer elsewhere."""

    def __init__(self):
        super().__init__()
        import copy
        self.encoder = nn.Sequential(nn.Linear(8, 16), nn.ReLU(),
                                     nn.Linear(16, 16))
        layer = nn.Linear(16, 16)
        self.layers = nn.ModuleList(copy.deepcopy(layer) for _ in range(3))
        self.head = nn.Linear(16, 1)

    def forward(self, a, b):
        d = torch.abs(self.encoder(a) - self.encoder(b))
        for layer in self.layers:
            d = d + torch.tanh(layer(d))
        return self.head(d)


def siamese():
    return Model(_Siamese(), [vectors(8), vectors(8)], loss="bce")
