"""Autoencoders, a U-Net, and generators of images."""

import torch
from torch import nn

from model import Model, images, vectors


class _Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(32, 16), nn.ReLU(),
                                     nn.Linear(16, 4))
        self.decoder = nn.Sequential(nn.Linear(4, 16), nn.ReLU(),
                                     nn.Linear(16, 32), nn.Sigmoid())

    def forward(self, x):
        return self.decoder(self.encoder(x))


def autoencoder():
    return Model(_Autoencoder(), [vectors(32)], loss="mse")


def conv_autoencoder():
    # Transposed convolutions restore the size.
    return Model(nn.Sequential(
        nn.Conv2d(3, 8, 3, stride=2, padding=1), nn.ReLU(),
        nn.Conv2d(8, 16, 3, stride=2, padding=1), nn.ReLU(),
        nn.ConvTranspose2d(16, 8, 2, stride=2), nn.ReLU(),
        nn.ConvTranspose2d(8, 3, 2, stride=2), nn.Sigmoid()),
        [images(16)], loss="mse")


def pixel_shuffle_autoencoder():
    return Model(nn.Sequential(
        nn.Conv2d(3, 8, 3, stride=2, padding=1), nn.LeakyReLU(0.2),
        nn.Conv2d(8, 16, 3, stride=2, padding=1), nn.LeakyReLU(0.2),
        nn.Conv2d(16, 48, 1), nn.PixelShuffle(4), nn.Tanh()),
        [images(16)], loss="mse")


class _Vae(nn.Module):
    """A VAE with the noise as an argument. It returns the reconstruction."""

    def __init__(self):
        super().__init__()
        self.encode = nn.Linear(32, 16)
        self.mean, self.log_variance = nn.Linear(16, 4), nn.Linear(16, 4)
        self.decode = nn.Sequential(nn.Linear(4, 16), nn.ReLU(),
                                    nn.Linear(16, 32))

    def forward(self, x, noise):
        h = torch.relu(self.encode(x))
        mean, log_variance = self.mean(h), self.log_variance(h)
        z = mean + noise * torch.exp(0.5 * log_variance)
        return self.decode(z)


def vae():
    return Model(_Vae(), [vectors(32), vectors(4)], loss="mse")


def _double_conv(inputs, outputs):
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs),
        nn.ReLU(inplace=True), nn.Conv2d(outputs, outputs, 3, padding=1),
        nn.BatchNorm2d(outputs), nn.ReLU(inplace=True))


class _UNet(nn.Module):
    def __init__(self, upsample):
        super().__init__()
        self.first = _double_conv(3, 8)
        self.down1 = nn.Sequential(nn.MaxPool2d(2), _double_conv(8, 16))
        self.down2 = nn.Sequential(nn.MaxPool2d(2), _double_conv(16, 32))
        self.up1, self.up2 = upsample(32, 16), upsample(16, 8)
        self.conv1, self.conv2 = _double_conv(32, 16), _double_conv(16, 8)
        self.out = nn.Conv2d(8, 4, 1)

    def forward(self, x):
        x1 = self.first(x)
        x2 = self.down1(x1)
        x3 = self.down2(x2)
        x = self.conv1(torch.cat([x2, self.up1(x3)], dim=1))
        x = self.conv2(torch.cat([x1, self.up2(x)], dim=1))
        return self.out(x)


def unet():
    return Model(_UNet(lambda i, o: nn.ConvTranspose2d(i, o, 2, stride=2)),
                 [images(16)], class_axis=1)


def unet_upsample():
    return Model(_UNet(lambda i, o: nn.Sequential(
        nn.Upsample(scale_factor=2), nn.Conv2d(i, o, 1))), [images(16)],
        class_axis=1)


class _ImageTransformer(nn.Module):
    """A masked autoencoder's decoder: tokens of patches, back to pixels."""

    def __init__(self, width=32, patch=4, size=16):
        super().__init__()
        self.patch, self.side = patch, size // patch
        self.embed = nn.Conv2d(3, width, patch, patch)
        self.position = nn.Parameter(
            torch.randn(1, self.side ** 2, width) * 0.02)
        layer = nn.TransformerEncoderLayer(width, 2, 64, 0.0, "gelu",
                                           batch_first=True, norm_first=True)
        self.blocks = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.pixels = nn.Linear(width, 3 * patch * patch)

    def forward(self, x):
        x = self.embed(x).flatten(2).transpose(1, 2) + self.position
        x = self.pixels(self.blocks(x))
        x = x.reshape(-1, self.side, self.side, self.patch, self.patch, 3)
        x = x.permute(0, 5, 1, 3, 2, 4)
        size = self.side * self.patch
        return x.reshape(-1, 3, size, size)


def image_transformer():
    return Model(_ImageTransformer(), [images(16)], loss="mse", has_heads=True)
