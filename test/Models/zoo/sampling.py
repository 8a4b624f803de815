"""Sampling of images at computed positions, overlapping patches, bags of embeddings."""

import torch
from torch import nn
from torch.nn import functional as F
from torchvision.ops import DeformConv2d

from model import Model, ids, images


class _SpatialTransformer(nn.Module):
    """PyTorch's tutorial: the model rotates the image and then classifies it."""

    def __init__(self, mode="bilinear", padding="zeros"):
        super().__init__()
        self.mode, self.padding = mode, padding
        self.localization = nn.Sequential(
            nn.Conv2d(3, 8, 5), nn.MaxPool2d(2), nn.ReLU(True),
            nn.Conv2d(8, 10, 3), nn.ReLU(True), nn.Flatten(),
            nn.Linear(160, 32), nn.ReLU(True), nn.Linear(32, 6))
        self.localization[-1].bias.data.copy_(
            torch.tensor([1.0, 0.1, 0.0, -0.1, 1.0, 0.0]))
        self.conv = nn.Conv2d(3, 8, 3, stride=2)
        self.fc = nn.Linear(392, 10)

    def forward(self, x):
        theta = self.localization(x).view(-1, 2, 3)
        grid = F.affine_grid(theta, x.size(), align_corners=False)
        x = F.grid_sample(x, grid, self.mode, self.padding, align_corners=False)
        return self.fc(F.relu(self.conv(x)).flatten(1))


def spatial_transformer():
    return Model(_SpatialTransformer(), [images(16)])


def spatial_transformer_cubic():
    return Model(_SpatialTransformer("bicubic", "reflection"), [images(16)])


class _DeformableConvolutions(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, padding=1)
        self.offset = nn.Conv2d(8, 36, 3, padding=1)
        self.mask = nn.Conv2d(8, 18, 3, padding=1)
        self.conv = DeformConv2d(8, 12, 3, padding=1, groups=2)
        self.fc = nn.Linear(12, 10)

    def forward(self, x):
        x = F.relu(self.stem(x))
        x = self.conv(x, self.offset(x), torch.sigmoid(self.mask(x)))
        return self.fc(F.relu(x).mean((2, 3)))


def deformable_convolutions():
    return Model(_DeformableConvolutions(), [images(8)])


class _Patches(nn.Module):
    """A layer on overlapping patches, whose results are summed."""

    def __init__(self):
        super().__init__()
        self.unfold = nn.Unfold(4, stride=2, padding=1)
        self.layer = nn.Sequential(nn.Linear(48, 16), nn.Tanh(),
                                   nn.Linear(16, 48))
        self.fold = nn.Fold((8, 8), 4, stride=2, padding=1)
        self.fc = nn.Linear(192, 10)

    def forward(self, x):
        patches = self.layer(self.unfold(x).transpose(1, 2))
        return self.fc(self.fold(patches.transpose(1, 2)).flatten(1))


def overlapping_patches():
    return Model(_Patches(), [images(8)])


class _Smoothed(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 6, 3, padding=1)
        self.fc = nn.Linear(150, 10)

    def forward(self, x):
        x = F.interpolate(F.relu(self.conv(x)), (5, 5), mode="bilinear",
                          antialias=True)
        return self.fc(x.flatten(1))


def smoothed():
    return Model(_Smoothed(), [images(12)])


class _Bags(nn.Module):
    def __init__(self, mode):
        super().__init__()
        self.bags = nn.EmbeddingBag(30, 8, mode=mode)
        self.fc = nn.Linear(8, 10)

    def forward(self, x):
        return self.fc(torch.tanh(self.bags(x)))


def bags_mean():
    return Model(_Bags("mean"), [ids(30, 5)])


def bags_max():
    return Model(_Bags("max"), [ids(30, 5)])
