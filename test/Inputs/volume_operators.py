"""Cases of make_operator_gradients.py: windows with depth, height and width."""

import numpy as np
from torch.nn import functional as F


def pads(*sizes):
    return [*sizes, *sizes]


def add_cases(case, normal):
    x = normal(2, 2, 4, 3, 5)
    case("Conv3D", "Conv",
         lambda x, w, b: F.conv3d(x, w, b, padding=(1, 0, 1)),
         [x, normal(3, 2, 3, 2, 2), normal(3)], pads=pads(1, 0, 1))
    case("Conv3DStrides", "Conv",
         lambda x, w: F.conv3d(x, w, stride=(2, 1, 2), dilation=(1, 2, 1),
                               padding=(0, 1, 0), groups=2),
         [x, normal(4, 1, 1, 2, 3)], strides=[2, 1, 2], dilations=[1, 2, 1],
         pads=pads(0, 1, 0), group=2)
    case("Conv3DDilated", "Conv",
         lambda x, w: F.conv3d(x, w, stride=3, dilation=(2, 1, 1),
                               padding=(2, 0, 0)),
         [x, normal(2, 2, 3, 1, 2)], strides=[3, 3, 3], dilations=[2, 1, 1],
         pads=pads(2, 0, 0))
    case("ConvTranspose3D", "ConvTranspose",
         lambda x, w, b: F.conv_transpose3d(x, w, b, stride=2, padding=1,
                                            output_padding=1),
         [normal(2, 2, 2, 3, 2), normal(2, 3, 3, 3, 3), normal(3)],
         strides=[2, 2, 2], pads=pads(1, 1, 1), output_padding=[1, 1, 1])
    case("ConvTranspose3DGroups", "ConvTranspose",
         lambda x, w: F.conv_transpose3d(x, w, stride=(1, 3, 1), groups=2,
                                         dilation=(2, 1, 1)),
         [normal(1, 2, 3, 2, 2), normal(2, 2, 2, 2, 1)], strides=[1, 3, 1],
         dilations=[2, 1, 1], group=2)
    # Few values, so that windows have ties.
    tied = np.round(2 * normal(2, 2, 5, 4, 3)) / 2
    case("MaxPool3D", "MaxPool", lambda x: F.max_pool3d(x, 3, 2, 1), [tied],
         kernel_shape=[3, 3, 3], strides=[2, 2, 2], pads=pads(1, 1, 1))
    case("MaxPool3DDilated", "MaxPool",
         lambda x: F.max_pool3d(x, 2, 1, 0, dilation=(3, 1, 2)), [tied],
         kernel_shape=[2, 2, 2], dilations=[3, 1, 2])
    case("AveragePool3D", "AveragePool",
         lambda x: F.avg_pool3d(x, 2, 2, 1, count_include_pad=False), [tied],
         kernel_shape=[2, 2, 2], strides=[2, 2, 2], pads=pads(1, 1, 1))
    case("AveragePool3DPadded", "AveragePool",
         lambda x: F.avg_pool3d(x, (3, 1, 2), 1, (1, 0, 0)), [tied],
         kernel_shape=[3, 1, 2], pads=pads(1, 0, 0), count_include_pad=1)
