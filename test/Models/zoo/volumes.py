"""Volumes, videos and sounds."""

import torch
from torch import nn
from torch.nn import functional as F

from model import Model, vectors


def _block(inputs, outputs):
    return nn.Sequential(nn.Conv3d(inputs, outputs, 3, padding=1),
                         nn.BatchNorm3d(outputs), nn.ReLU())


class _UNet3d(nn.Module):
    """Segmentation of a volume, such as medical images."""

    def __init__(self):
        super().__init__()
        self.down, self.bottom = _block(1, 4), _block(4, 8)
        self.pool = nn.MaxPool3d(2)
        self.up = nn.ConvTranspose3d(8, 4, 2, stride=2)
        self.join, self.head = _block(8, 4), nn.Conv3d(4, 3, 1)

    def forward(self, x):
        skip = self.down(x)
        y = self.up(self.bottom(self.pool(skip)))
        return self.head(self.join(torch.cat([skip, y], 1)))


def unet3d():
    return Model(_UNet3d(), [vectors(1, 4, 8, 8)], class_axis=1)


class _Video(nn.Module):
    """A residual network with convolutions of space, then of time."""

    def __init__(self, width=6):
        super().__init__()
        self.stem = nn.Conv3d(3, width, (3, 5, 5), stride=(1, 2, 2),
                              padding=(1, 2, 2), bias=False)
        self.norm = nn.GroupNorm(2, width)
        self.space = nn.Conv3d(width, width, (1, 3, 3), padding=(0, 1, 1))
        self.time = nn.Conv3d(width, width, (3, 1, 1), padding=(1, 0, 0))
        self.pool = nn.AvgPool3d((2, 2, 2))
        self.head = nn.Linear(width, 5)

    def forward(self, x):
        x = F.relu(self.norm(self.stem(x)))
        x = x + F.relu(self.time(F.relu(self.space(x))))
        return self.head(self.pool(x).mean((2, 3, 4)))


def video():
    return Model(_Video(), [vectors(3, 4, 12, 12)])


class _Tubelets(nn.Module):
    """A transformer over blocks of a video."""

    def __init__(self, width=32):
        super().__init__()
        self.patches = nn.Conv3d(3, width, (2, 4, 4), stride=(2, 4, 4))
        self.positions = nn.Parameter(torch.randn(1, 8, width) * 0.02)
        layer = nn.TransformerEncoderLayer(width, 2, 48, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(width, 5)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2) + self.positions
        return self.head(self.encoder(x).mean(1))


def tubelet_transformer():
    return Model(_Tubelets(), [vectors(3, 4, 8, 8)], has_heads=True)


class _Spectrogram(nn.Module):
    """A convolutional network over the power of a sound's frequencies."""

    def __init__(self):
        super().__init__()
        self.register_buffer("window", torch.hann_window(16))
        self.register_buffer("bands", torch.rand(6, 9))
        self.conv = nn.Conv2d(1, 8, 3, padding=1)
        self.head = nn.Linear(8, 5)

    def forward(self, x):
        frames = torch.stft(x, 16, 8, window=self.window, center=False,
                            return_complex=True)
        power = torch.view_as_real(frames).pow(2).sum(-1)
        bands = (self.bands @ power + 1e-3).log()
        return self.head(F.relu(self.conv(bands[:, None])).mean((2, 3)))


def spectrogram():
    return Model(_Spectrogram(), [vectors(128)])


class _FourierMixing(nn.Module):
    """FNet: a Fourier transform mixes tokens."""

    def __init__(self, width=16):
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.layers = nn.ModuleList(
            nn.Sequential(nn.Linear(width, 32), nn.GELU(),
                          nn.Linear(32, width)) for _ in range(2))
        self.head = nn.Linear(width, 5)

    def forward(self, x):
        for norm, layer in zip(self.norms, self.layers):
            x = norm(x + torch.fft.fft2(x).real)
            x = x + layer(x)
        return self.head(x.mean(1))


def fourier_mixing():
    return Model(_FourierMixing(), [vectors(8, 16)])
