"""Recommenders: tables of users, items and features, and small networks."""

import torch
from torch import nn

from model import Model, ids, vectors


class _MatrixFactorization(nn.Module):
    def __init__(self):
        super().__init__()
        self.users, self.items = nn.Embedding(40, 8), nn.Embedding(60, 8)
        self.user_bias, self.item_bias = nn.Embedding(40, 1), nn.Embedding(60, 1)

    def forward(self, user, item):
        score = (self.users(user) * self.items(item)).sum(1, keepdim=True)
        return score + self.user_bias(user) + self.item_bias(item)


def matrix_factorization():
    return Model(_MatrixFactorization(), [ids(40), ids(60)], loss="mse")


class _Ncf(nn.Module):
    """He et al. 2017: generalized factorization beside an MLP."""

    def __init__(self):
        super().__init__()
        self.user_mf, self.item_mf = nn.Embedding(40, 8), nn.Embedding(60, 8)
        self.user_mlp, self.item_mlp = nn.Embedding(40, 16), nn.Embedding(60, 16)
        self.mlp = nn.Sequential(nn.Dropout(0.2), nn.Linear(32, 16), nn.ReLU(),
                                 nn.Dropout(0.2), nn.Linear(16, 8), nn.ReLU())
        self.predict = nn.Linear(16, 1)

    def forward(self, user, item):
        mf = self.user_mf(user) * self.item_mf(item)
        mlp = self.mlp(torch.cat([self.user_mlp(user), self.item_mlp(item)], -1))
        return self.predict(torch.cat([mf, mlp], dim=-1)).view(-1)


def ncf():
    return Model(_Ncf(), [ids(40), ids(60)], loss="bce")


class _WideDeep(nn.Module):
    """Cheng et al. 2016: a linear model beside a deep one."""

    def __init__(self, fields=(10, 20, 30)):
        super().__init__()
        self.wide = nn.ModuleList(nn.Embedding(n, 1) for n in fields)
        self.tables = nn.ModuleList(nn.Embedding(n, 8) for n in fields)
        self.deep = nn.Sequential(
            nn.Linear(8 * len(fields) + 4, 32), nn.ReLU(), nn.Dropout(0.3),
            nn.Linear(32, 1))
        self.bias = nn.Parameter(torch.zeros(1))

    def forward(self, categories, numbers):
        columns = [categories[:, i] for i in range(len(self.wide))]
        wide = sum(table(c) for table, c in zip(self.wide, columns))
        deep = torch.cat([t(c) for t, c in zip(self.tables, columns)]
                         + [numbers], dim=1)
        return wide + self.deep(deep) + self.bias


def wide_and_deep():
    return Model(_WideDeep(), [ids(10, 3), vectors(4)], loss="bce")


class _Dlrm(nn.Module):
    """Naumov et al. 2019: dot products of all pairs, without the diagonal."""

    def __init__(self, fields=(10, 20, 30), width=8):
        super().__init__()
        self.bottom = nn.Sequential(nn.Linear(4, 16), nn.ReLU(),
                                    nn.Linear(16, width), nn.ReLU())
        self.tables = nn.ModuleList(
            nn.EmbeddingBag(n, width, mode="sum") for n in fields)
        pairs = (len(fields) + 1) * len(fields) // 2
        self.top = nn.Sequential(nn.Linear(width + pairs, 16), nn.ReLU(),
                                 nn.Linear(16, 1))

    def forward(self, dense, sparse):
        x = self.bottom(dense)
        rows = [table(sparse[:, i:i + 1])
                for i, table in enumerate(self.tables)]
        features = torch.stack([x, *rows], dim=1)
        products = torch.bmm(features, features.transpose(1, 2))
        row, column = torch.tril_indices(features.shape[1], features.shape[1],
                                         offset=-1)
        return self.top(torch.cat([x, products[:, row, column]], dim=1))


def dlrm():
    return Model(_Dlrm(), [vectors(4), ids(10, 3)], loss="bce")


class _FactorizationMachine(nn.Module):
    """DeepFM (Guo et al. 2017), one table with offsets for all fields."""

    def __init__(self, fields=(10, 20, 30), width=8):
        super().__init__()
        starts = torch.tensor((0, *fields[:-1])).cumsum(0)
        self.register_buffer("starts", starts)
        self.linear = nn.Embedding(sum(fields), 1)
        self.table = nn.Embedding(sum(fields), width)
        self.mlp = nn.Sequential(nn.Linear(width * len(fields), 16), nn.ReLU(),
                                 nn.Dropout(0.2), nn.Linear(16, 1))

    def forward(self, features):
        x = features + self.starts
        v = self.table(x)
        interaction = (v.sum(1) ** 2 - (v ** 2).sum(1)).sum(1, keepdim=True)
        return (self.linear(x).sum(1) + 0.5 * interaction
                + self.mlp(v.flatten(1))).squeeze(1)


def deepfm():
    return Model(_FactorizationMachine(), [ids(10, 3)], loss="bce")


class _Cross(nn.Module):
    """Deep & cross network, version 2 (Wang et al. 2021)."""

    def __init__(self, width=16):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(20, 4) for _ in range(3))
        self.cross = nn.ModuleList(nn.Linear(width, width) for _ in range(3))
        self.deep = nn.Sequential(nn.Linear(width, 32), nn.ReLU())
        self.out = nn.Linear(width + 32, 1)

    def forward(self, features, numbers):
        x0 = torch.cat([t(features[:, i]) for i, t in enumerate(self.tables)]
                       + [numbers], 1)
        x = x0
        for layer in self.cross:
            x = x0 * layer(x) + x
        return self.out(torch.cat([x, self.deep(x0)], 1))


def deep_cross():
    return Model(_Cross(), [ids(20, 3), vectors(4)], loss="bce")


class _TwoTower(nn.Module):
    """Retrieval: scaled cosines between users and items."""

    def __init__(self):
        super().__init__()
        self.user = nn.Sequential(nn.Embedding(40, 16), nn.Linear(16, 16))
        self.item = nn.Sequential(nn.Embedding(60, 16), nn.Linear(16, 16))
        self.scale = nn.Parameter(torch.tensor(2.0))

    def forward(self, user, items):
        u = nn.functional.normalize(self.user(user), dim=-1)
        v = nn.functional.normalize(self.item(items), dim=-1)
        return self.scale.exp() * (u.unsqueeze(1) * v).sum(-1)


def two_tower():
    return Model(_TwoTower(), [ids(40), ids(60, 5)])


class _SasRec(nn.Module):
    """Next items by self-attention (Kang and McAuley 2018)."""

    def __init__(self, items=50, length=12, width=32):
        super().__init__()
        self.items = nn.Embedding(items, width, padding_idx=0)
        self.positions = nn.Embedding(length, width)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, 2, 0.2, batch_first=True)
        self.conv1 = nn.Conv1d(width, width, 1)
        self.conv2 = nn.Conv1d(width, width, 1)
        self.dropout = nn.Dropout(0.2)

    def forward(self, history):
        length = history.shape[1]
        x = self.items(history) + self.positions(
            torch.arange(length, device=history.device))
        x = self.dropout(x)
        mask = torch.triu(torch.ones(length, length, dtype=torch.bool), 1)
        q = self.norm1(x)
        x = q + self.attention(q, x, x, attn_mask=mask, need_weights=False)[0]
        y = self.norm2(x).transpose(1, 2)
        y = self.conv2(self.dropout(self.conv1(y).relu())).transpose(1, 2)
        return (x + y) @ self.items.weight.T


def sasrec():
    return Model(_SasRec(), [ids(50, 12)], has_heads=True)
