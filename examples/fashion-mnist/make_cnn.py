"""Writes cnn.onnx: three convolutions with batch norm for 28 x 28 images.

usage: make_cnn.py

Needs torch and onnx. The model has 30 000 parameters. PyTorch initializes them
under seed 0.
"""

from pathlib import Path

import torch
from torch import nn


def block(inputs, outputs):
    return [nn.Conv2d(inputs, outputs, 3, padding=1, bias=False),
            nn.BatchNorm2d(outputs), nn.ReLU(), nn.MaxPool2d(2)]


torch.manual_seed(0)
model = nn.Sequential(*block(1, 16), *block(16, 32), *block(32, 64),
                      nn.Flatten(), nn.Linear(576, 10))
torch.onnx.export(model.train(), (torch.zeros(2, 1, 28, 28),),
                  Path(__file__).with_name("cnn.onnx"), dynamo=False,
                  opset_version=17, input_names=["image"],
                  output_names=["logits"],
                  training=torch.onnx.TrainingMode.TRAINING,
                  do_constant_folding=False,
                  dynamic_axes={"image": {0: "batch"}, "logits": {0: "batch"}})
