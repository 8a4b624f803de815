"""Modules that begin equal, and parameters that a file holds in computed form."""

import copy

import torch
from torch import nn
from torch.nn import functional as F

from model import Model, images, vectors


class _Control(nn.Module):
    """Like ControlNet.from_unet: a copy of the encoder sees the same image."""

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.SiLU(),
                                 nn.Conv2d(8, 8, 3, padding=1), nn.SiLU())
        self.control = copy.deepcopy(self.net)
        self.hint = nn.Conv2d(8, 8, 1)
        self.head = nn.Linear(8, 10)

    def forward(self, x):
        y = self.net(x) + self.hint(self.control(x).tanh())
        return self.head(y.mean((2, 3)))


def control():
    return Model(_Control(), [images(8)])


class _Experts(nn.Module):
    """A mixture whose experts begin as copies of one layer."""

    def __init__(self):
        super().__init__()
        expert = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 10))
        self.experts = nn.ModuleList(copy.deepcopy(expert) for _ in range(3))
        self.gate = nn.Linear(16, 3)

    def forward(self, x):
        results = torch.stack([expert(x) for expert in self.experts], -1)
        return (results * self.gate(x).softmax(-1).unsqueeze(1)).sum(-1)


def experts():
    return Model(_Experts(), [vectors(16)])


class _Modulated(nn.Module):
    """Like a block of DiT: modulation starts at zero."""

    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width, elementwise_affine=False)
        self.modulation = nn.Sequential(nn.SiLU(), nn.Linear(width, 3 * width))
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(),
                                 nn.Linear(2 * width, width))
        for parameter in self.modulation[1].parameters():
            nn.init.zeros_(parameter)

    def forward(self, x, condition):
        shift, scale, gate = self.modulation(condition).chunk(3, -1)
        return x + gate * self.mlp(self.norm(x) * (1 + scale) + shift)


class _DiT(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.condition = nn.Linear(4, width)
        self.embed = nn.Linear(8, width)
        self.blocks = nn.ModuleList(_Modulated(width) for _ in range(3))
        self.head = nn.Linear(width, 10)

    def forward(self, x, condition):
        x, condition = self.embed(x), self.condition(condition)
        for block in self.blocks:
            x = block(x, condition)
        return self.head(x)


def dit():
    return Model(_DiT(), [vectors(8), vectors(4)])


class _StateSpace(nn.Module):
    """Like Mamba: decays by -exp(A_log), and scales a norm by 1 + weight."""

    def __init__(self, width=8, states=4):
        super().__init__()
        self.embed = nn.Linear(4, width)
        self.rates = nn.Linear(width, width)
        self.mix = nn.Linear(width, 2 * states)
        self.A_log = nn.Parameter(
            torch.log(torch.arange(1.0, states + 1).repeat(width, 1)))
        self.D = nn.Parameter(torch.rand(width))
        # These numbers survive the exporter's rounding.
        self.weight = nn.Parameter(torch.randint(-16, 16, (width,)) / 64)
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        x = self.embed(x.reshape(x.shape[0], 6, 4))
        decay = -torch.exp(self.A_log.float())
        steps = F.softplus(self.rates(x))
        b, c = self.mix(x).chunk(2, -1)
        decays = torch.exp(decay[None, None] * steps[..., None])
        state, outputs = 0, []
        for i in range(6):
            added = steps[:, i, :, None] * b[:, i, None] * x[:, i, :, None]
            state = state * decays[:, i] + added
            outputs.append((state * c[:, i, None]).sum(-1))
        y = torch.stack(outputs, 1) + x * self.D[None, None]
        y = y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-5)
        return self.head((y * (1.0 + self.weight.float())).mean(1))


def state_space():
    return Model(_StateSpace(), [vectors(24)])


class _Temperature(nn.Module):
    """Scores of classes like CLIP's. Its temperature begins as 1 / 0.07, and has the
    name of a call of forward."""

    def __init__(self):
        super().__init__()
        self.net = nn.Linear(16, 8)
        self.classes = nn.Parameter(torch.randn(10, 8))
        self.t = nn.Parameter(torch.tensor(2.6592))

    def forward(self, x):
        x = F.normalize(self.net(x), dim=-1)
        return self.t.exp() * (self.classes @ x.t()).t()


def temperature():
    return Model(_Temperature(), [vectors(16)])
