"""Draws models at random from common blocks: attention, rotary forms, gates, norms
before and after, skips, pools, concatenations and chunks."""

import math
import random

import torch
from torch import nn
from torch.nn import functional as F

from model import Model, ids, vectors

LENGTH, WIDTH, SIZE, VOCABULARY = 8, 16, 16, 24


class RMSNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        variance = x.pow(2).mean(-1, keepdim=True)
        return self.weight * (x * torch.rsqrt(variance + 1e-6))


class Center(nn.Module):
    """A norm of mean and spread, written out, without parameters."""

    def forward(self, x):
        x = x - x.mean(-1, keepdim=True)
        return x / torch.sqrt((x * x).mean(-1, keepdim=True) + 1e-5)


def draw_norm(draw, width=WIDTH):
    if draw.random() < 0.05:
        return nn.RMSNorm(width, eps=1e-6)
    return draw.choice([lambda: nn.LayerNorm(width), lambda: RMSNorm(width),
                        lambda: nn.LayerNorm(width, bias=False), Center])()


def half_rotation(x, cos, sin):
    a, b = x.chunk(2, dim=-1)
    return x * cos + torch.cat([-b, a], dim=-1) * sin


def sliced_rotation(x, cos, sin):
    half = x.shape[-1] // 2
    return x * cos + torch.cat((-x[..., half:], x[..., :half]), dim=-1) * sin


def interleaved_rotation(x, cos, sin):
    a, b = x[..., ::2], x[..., 1::2]
    c, s = cos[..., :a.shape[-1]], sin[..., :a.shape[-1]]
    return torch.stack([a * c - b * s, a * s + b * c], dim=-1).flatten(-2)


def partial_rotation(x, cos, sin):
    half = x.shape[-1] // 2
    turned, passed = x[..., :half], x[..., half:]
    c, s = cos[..., :half], sin[..., :half]
    a, b = turned.chunk(2, dim=-1)
    turned = turned * c + torch.cat([-b, a], dim=-1) * s
    return torch.cat([turned, passed], dim=-1)


class Attention(nn.Module):
    def __init__(self, draw):
        super().__init__()
        self.heads = draw.choice([1, 2, 4])
        self.kv_heads = draw.choice([h for h in (1, 2, 4)
                                     if self.heads % h == 0])
        inner, kv = self.heads * SIZE, self.kv_heads * SIZE
        self.fused = draw.choice(["no", "split", "chunk", "unbind"])
        bias = draw.random() < 0.5
        if self.fused in ("chunk", "unbind"):
            self.kv_heads, kv = self.heads, inner
        if self.fused == "no":
            self.q = nn.Linear(WIDTH, inner, bias)
            self.k = nn.Linear(WIDTH, kv, bias)
            self.v = nn.Linear(WIDTH, kv, bias)
        else:
            self.qkv = nn.Linear(WIDTH, inner + 2 * kv, bias)
        self.sizes = [inner, kv, kv]
        self.out = nn.Linear(inner, WIDTH, bias)
        self.rotation = draw.choice([None, half_rotation, sliced_rotation,
                                     interleaved_rotation, partial_rotation])
        angles = torch.outer(torch.arange(LENGTH).float(), 100.0 ** (
            -torch.arange(0, SIZE, 2).float() / SIZE))
        angles = torch.cat([angles, angles], -1)
        self.register_buffer("cos", angles.cos())
        self.register_buffer("sin", angles.sin())
        self.kind = draw.choice(["sdpa", "sdpa-causal", "plain", "masked",
                                 "added", "bias", "softcap"])
        if self.kind == "bias":
            self.bias = nn.Parameter(torch.randn(self.heads, LENGTH, LENGTH))
        if draw.random() < 0.3:
            self.q_norm, self.k_norm = draw_norm(draw, SIZE), RMSNorm(SIZE)
        else:
            self.q_norm = self.k_norm = nn.Identity()
        self.repeat = draw.choice(["interleave", "expand"])
        mask = torch.tril(torch.ones(LENGTH, LENGTH, dtype=torch.bool))
        self.register_buffer("mask", mask)

    def heads_of(self, x, count):
        return x.view(x.shape[0], LENGTH, count, SIZE).transpose(1, 2)

    def project(self, x):
        if self.fused == "no":
            q, k, v = self.q(x), self.k(x), self.v(x)
        elif self.fused == "split":
            q, k, v = self.qkv(x).split(self.sizes, dim=-1)
        elif self.fused == "chunk":
            q, k, v = self.qkv(x).chunk(3, dim=-1)
        else:
            qkv = self.qkv(x).reshape(-1, LENGTH, 3, self.heads, SIZE)
            return qkv.permute(2, 0, 3, 1, 4).unbind(0)
        return (self.heads_of(q, self.heads), self.heads_of(k, self.kv_heads),
                self.heads_of(v, self.kv_heads))

    def widen(self, x):
        repeats = self.heads // self.kv_heads
        if self.repeat == "interleave":
            return x.repeat_interleave(repeats, dim=1)
        x = x[:, :, None].expand(-1, -1, repeats, -1, -1)
        return x.reshape(-1, self.heads, LENGTH, SIZE)

    def attend(self, q, k, v):
        if self.kind == "sdpa":
            return F.scaled_dot_product_attention(q, k, v)
        if self.kind == "sdpa-causal":
            return F.scaled_dot_product_attention(q, k, v, is_causal=True)
        scores = q @ k.transpose(-2, -1) / math.sqrt(SIZE)
        if self.kind == "masked":
            scores = scores.masked_fill(~self.mask, float("-inf"))
        elif self.kind == "added":
            lowest = torch.full((LENGTH, LENGTH), -1e9)
            scores = scores + torch.triu(lowest, diagonal=1)
        elif self.kind == "bias":
            scores = scores + self.bias
        elif self.kind == "softcap":
            scores = torch.tanh(scores / 4) * 4
        return F.softmax(scores, dim=-1) @ v

    def forward(self, x):
        q, k, v = self.project(x)
        q, k = self.q_norm(q), self.k_norm(k)
        if self.rotation:
            q = self.rotation(q, self.cos, self.sin)
            k = self.rotation(k, self.cos, self.sin)
        if self.kv_heads != self.heads:
            k, v = self.widen(k), self.widen(v)
        y = self.attend(q, k, v).transpose(1, 2)
        return self.out(y.reshape(-1, LENGTH, self.heads * SIZE))


class Mlp(nn.Module):
    def __init__(self, draw):
        super().__init__()
        self.kind = draw.choice(["plain", "chunked", "gated", "squared"])
        self.act = draw.choice([F.gelu, F.silu, torch.tanh, torch.sigmoid,
                                lambda x: F.gelu(x, approximate="tanh"),
                                F.softplus, F.mish])
        inner = 24
        self.up = nn.Linear(WIDTH, 2 * inner if self.kind == "chunked" else
                            inner)
        if self.kind == "gated":
            self.gate = nn.Linear(WIDTH, inner, bias=False)
        self.down = nn.Linear(inner, WIDTH)

    def forward(self, x):
        if self.kind == "chunked":
            a, b = self.up(x).chunk(2, dim=-1)
            return self.down(self.act(a) * b)
        if self.kind == "gated":
            return self.down(self.act(self.gate(x)) * self.up(x))
        if self.kind == "squared":
            return self.down(F.relu(self.up(x)) ** 2)
        return self.down(self.act(self.up(x)))


class TokenMixer(nn.Module):
    """Moves information along the sequence without attention."""

    def __init__(self, draw):
        super().__init__()
        self.kind = draw.choice(["linear", "conv", "shift", "pool", "global",
                                 "roll", "spread"])
        if self.kind == "linear":
            self.mix = nn.Linear(LENGTH, LENGTH)
        elif self.kind == "conv":
            self.mix = nn.Conv1d(WIDTH, WIDTH, 3, groups=WIDTH)
        elif self.kind == "shift":
            self.mix = nn.Parameter(torch.rand(WIDTH))
        elif self.kind in ("global", "spread"):
            self.mix = nn.Linear(2 * WIDTH, WIDTH)

    def forward(self, x):
        if self.kind == "linear":
            return self.mix(x.transpose(1, 2)).transpose(1, 2)
        if self.kind == "conv":
            return self.mix(F.pad(x.transpose(1, 2), (2, 0))).transpose(1, 2)
        if self.kind == "shift":
            past = torch.cat([torch.zeros_like(x[:, :1]), x[:, :-1]], dim=1)
            return past + (x - past) * self.mix
        if self.kind == "pool":
            y = F.avg_pool1d(x.transpose(1, 2), 3, 1, 1)
            return y.transpose(1, 2) - x
        if self.kind == "roll":
            return torch.roll(x, 2, dims=1) - x
        pooled = x.mean(1, keepdim=True)
        if self.kind == "spread":
            pooled = ((x - pooled) ** 2).mean(1, keepdim=True)
        return self.mix(torch.cat([x, pooled.expand_as(x)], dim=-1))


class Joined(nn.Module):
    """Concatenations that begin alike."""

    def __init__(self, draw):
        super().__init__()
        self.a, self.b = nn.Linear(2 * WIDTH, WIDTH), nn.Linear(2 * WIDTH, WIDTH)
        self.act = draw.choice([torch.sigmoid, torch.sin, torch.relu])

    def forward(self, x):
        return (self.a(torch.cat([x, x.tanh()], -1))
                + self.b(torch.cat([x, self.act(x)], -1)))


class Residual(nn.Module):
    def __init__(self, draw, body):
        super().__init__()
        self.body = body
        self.kind = draw.choice(["pre", "post", "sandwich", "scaled", "rezero",
                                 "gated", "none"])
        self.norm = draw_norm(draw)
        if self.kind == "sandwich":
            self.after = draw_norm(draw)
        elif self.kind == "scaled":
            self.scale = nn.Parameter(0.1 * torch.ones(WIDTH))
        elif self.kind == "rezero":
            self.scale = nn.Parameter(torch.tensor(0.5))
        elif self.kind == "gated":
            self.gate = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        if self.kind == "post":
            return self.norm(x + self.body(x))
        y = self.body(self.norm(x))
        if self.kind == "sandwich":
            return x + self.after(y)
        if self.kind in ("scaled", "rezero"):
            return x + self.scale * y
        if self.kind == "gated":
            g = torch.sigmoid(self.gate(x))
            return g * y + (1 - g) * x
        return x + y


class Network(nn.Module):
    def __init__(self, draw):
        super().__init__()
        self.takes_ids = draw.random() < 0.5
        if self.takes_ids:
            self.embed = nn.Embedding(VOCABULARY, WIDTH)
        else:
            self.embed = nn.Linear(6, WIDTH)
        self.positions = draw.choice(["none", "learned", "table"])
        if self.positions == "learned":
            self.position = nn.Parameter(torch.randn(1, LENGTH, WIDTH))
        elif self.positions == "table":
            self.position = nn.Embedding(LENGTH, WIDTH)
        bodies = [Attention, Attention, Mlp, TokenMixer, Joined]
        self.blocks = nn.ModuleList(
            Residual(draw, draw.choice(bodies)(draw))
            for _ in range(draw.choice([2, 3, 4])))
        self.skip = draw.random() < 0.3
        self.norm = draw.choice([draw_norm(draw), nn.Identity()])
        self.head = draw.choice(["mean", "max", "last", "first", "attention",
                                 "flat", "all"])
        if self.takes_ids and self.head == "all":
            self.head = draw.choice(["all", "tied"])
        if self.head == "attention":
            self.score = nn.Linear(WIDTH, 1)
        inputs = LENGTH * WIDTH if self.head == "flat" else WIDTH
        if self.head != "tied":
            self.out = nn.Linear(inputs, VOCABULARY if self.head == "all"
                                 else 5)

    def pool(self, x):
        if self.head == "mean":
            return x.mean(dim=1)
        if self.head == "max":
            return x.max(dim=1).values
        if self.head == "last":
            return x[:, -1]
        if self.head == "first":
            return x[:, 0, :]
        if self.head == "attention":
            return (self.score(x).softmax(dim=1) * x).sum(1)
        if self.head == "flat":
            return x.flatten(1)
        return x

    def forward(self, x):
        x = self.embed(x)
        if self.positions == "table":
            x = x + self.position(torch.arange(LENGTH, device=x.device))
        elif self.positions != "none":
            x = x + self.position
        first = x
        for block in self.blocks:
            x = block(x)
        if self.skip:
            x = x + first
        x = self.norm(x)
        if self.head == "tied":
            return x @ self.embed.weight.t()
        return self.out(self.pool(x))


def random_model(seed):
    torch.manual_seed(seed)
    module = Network(random.Random(seed))
    data = ids(VOCABULARY, LENGTH) if module.takes_ids else vectors(LENGTH, 6)
    return Model(module, [data], has_heads=any(
        isinstance(child, Attention) and child.kv_heads % 2 == 0
        for child in module.modules()))
