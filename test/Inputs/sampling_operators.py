"""Cases of make_operator_gradients.py: images at computed places, windows that
are summed, largest values by index, and loops."""

import numpy as np
import torch
from onnx import TensorProto, helper
from torch.nn import functional as F
from torchvision.ops import deform_conv2d

# On elements, between them, at edges and beyond them.
PLACES = np.array([-1.7, -1.0, -0.8, -0.5, -0.2, 0.0, 0.3, 0.5, 0.75, 1.0, 1.4,
                   2.9])


def grid_samples(case, normal, random):
    image, volume = normal(2, 3, 4, 5), normal(1, 2, 3, 4, 2)
    grid = random.choice(PLACES, (2, 3, 7, 2))
    depth = random.choice(PLACES, (1, 2, 3, 2, 3))
    names = {"linear": "bilinear", "nearest": "nearest", "cubic": "bicubic"}
    for mode, theirs in names.items():
        for padding in ("zeros", "border", "reflection"):
            for aligned in (0, 1):
                def sample(x, g):
                    return F.grid_sample(x, g, theirs, padding, bool(aligned))
                name = f"GridSample_{mode}_{padding}_{aligned}"
                case(name, "GridSample", sample, [image, grid], mode=mode,
                     padding_mode=padding, align_corners=aligned)
                if mode != "cubic":
                    case(name + "_depth", "GridSample", sample, [volume, depth],
                         mode=mode, padding_mode=padding, align_corners=aligned)
    case("GridSampleOld", "GridSample",
         lambda x, g: F.grid_sample(x, g, align_corners=False), [image, grid],
         opset=16)
    for aligned in (0, 1):
        for size in ([2, 3, 4, 1], [2, 1, 2, 3, 2]):
            case(f"AffineGrid_{aligned}_{len(size)}", "AffineGrid",
                 lambda t, s: F.affine_grid(t, s.tolist(), bool(aligned)),
                 [normal(2, len(size) - 2, len(size) - 1), np.array(size)],
                 constants=(1,), align_corners=aligned)


def windows(case, normal, random):
    case("Col2Im", "Col2Im",
         lambda x, image, block: F.fold(x, image.tolist(), block.tolist()),
         [normal(2, 12, 12), np.array([4, 5]), np.array([2, 2])],
         constants=(1, 2))
    case("Col2ImStrided", "Col2Im",
         lambda x, image, block: F.fold(x, image.tolist(), block.tolist(),
                                        dilation=(1, 2), padding=(1, 2),
                                        stride=(2, 1)),
         [normal(1, 12, 16), np.array([4, 6]), np.array([3, 2])],
         constants=(1, 2), dilations=[1, 2], pads=[1, 2, 1, 2], strides=[2, 1])
    case("LRN", "LRN",
         lambda x: F.local_response_norm(x, 5, alpha=0.5, beta=0.25, k=2.0),
         [normal(2, 7, 3, 2)], size=5, alpha=0.5, beta=0.25, bias=2.0)

    def even_norm(x):  # ONNX's window reaches further up, PyTorch's down
        squares = F.pad(x * x, (0, 0, 1, 2)).unfold(1, 4, 1).sum(-1)
        return x / (1 + 0.5 / 4 * squares) ** 0.75
    case("LRNEven", "LRN", even_norm, [normal(2, 7, 3)], size=4, alpha=0.5)
    case("LRNWide", "LRN", lambda x: F.local_response_norm(x, 9),
         [normal(2, 3, 5)], size=9)
    for p in (1, 2, 3):
        case(f"LpPool_{p}", "LpPool",
             lambda x: (6 * F.avg_pool2d(x.abs() ** p, (2, 3), (1, 2)))
             ** (1 / p),
             [normal(2, 3, 5, 6)], p=p, kernel_shape=[2, 3], strides=[1, 2])
        case(f"GlobalLpPool_{p}", "GlobalLpPool",
             lambda x: (x.abs() ** p).sum((2, 3), keepdim=True) ** (1 / p),
             [normal(2, 3, 4, 2)], p=p)
    image = normal(2, 6, 5, 4)
    case("DeformConv", "DeformConv",
         lambda x, w, offset: deform_conv2d(x, offset, w),
         [image, normal(4, 6, 2, 3), normal(2, 12, 4, 2)])
    case("DeformConvGroups", "DeformConv",
         lambda x, w, offset, b, mask: deform_conv2d(
             x, offset, w, b, stride=(2, 1), padding=(1, 2), dilation=(1, 2),
             mask=mask),
         [image, normal(4, 3, 3, 2), 2 * normal(2, 24, 3, 6), normal(4),
          normal(2, 12, 3, 6)],
         group=2, offset_group=2, strides=[2, 1], pads=[1, 2, 1, 2],
         dilations=[1, 2])
    for mode in ("bilinear", "bicubic"):
        for size in ([3, 3], [2, 9], [7, 4]):
            case(f"ResizeSmooth_{mode}_{size[0]}", "Resize",
                 lambda x, *_: F.interpolate(x, size, mode=mode,
                                             antialias=True),
                 [normal(1, 2, 7, 6), None, None, np.array([1, 2, *size])],
                 constants=(3,), antialias=1, exclude_outside=1,
                 cubic_coeff_a=-0.5,
                 mode="linear" if mode == "bilinear" else "cubic")


def value(name, kind=TensorProto.DOUBLE):
    return helper.make_tensor_value_info(name, kind, None)


def loops(case, normal):
    """x goes round as tanh(x w), and each x is kept, too. The weight is what the
    body takes from the graph around it."""
    start, weight, steps = normal(2, 3), normal(3, 3), normal(2, 4, 3)

    def make_body(inputs, outputs, before, factors):
        nodes = [helper.make_node("MatMul", factors, ["product"]),
                 helper.make_node("Tanh", ["product"], ["next"]),
                 helper.make_node("Identity", ["next"], ["kept"])]
        return helper.make_graph([*before, *nodes], "body", inputs, outputs)

    def go_round(x, w, additions):
        kept = []
        for addition in additions:
            x = torch.tanh((x + addition) @ w)
            kept.append(x)
        return x, kept

    def loop(count, go, x, w):
        final, kept = go_round(x, w, [0] * (3 if count is None else int(count)))
        return final, w, torch.stack(kept)

    inputs = [value("i", TensorProto.INT64), value("go", TensorProto.BOOL),
              value("x"), value("w")]
    outputs = [value("goes", TensorProto.BOOL), value("next"), value("w"),
               value("kept")]
    same = helper.make_node("Identity", ["go"], ["goes"])
    case("Loop", "Loop", loop,
         [np.array(3), np.array(True), start, weight], constants=(0, 1),
         outputs=3, body=make_body(inputs, outputs, [same], ["x", "x3"]))
    two = helper.make_node("Constant", [], ["two"], value_int=2)
    less = helper.make_node("Less", ["i", "two"], ["goes"])
    case("LoopUntil", "Loop", loop, [None, None, start, weight], outputs=3,
         body=make_body(inputs, outputs, [two, less], ["x", "x3"]))

    def scan(reverse, back):
        def function(x, w, steps):
            order = range(3, -1, -1) if reverse else range(4)
            final, kept = go_round(x, w, [steps[:, i] for i in order])
            return final, w, torch.stack(kept[::-1] if back else kept, 2)
        return function

    add = helper.make_node("Add", ["x", "step"], ["moved"])
    body = make_body([value("x"), value("w"), value("step")],
                     [value("next"), value("w"), value("kept")], [add],
                     ["moved", "x1"])
    for reverse, back in ((0, 0), (1, 0), (1, 1)):
        case(f"Scan_{reverse}_{back}", "Scan", scan(reverse, back),
             [start, weight, steps], outputs=3, body=body, num_scan_inputs=1,
             scan_input_axes=[1], scan_input_directions=[reverse],
             scan_output_axes=[-1], scan_output_directions=[back])


def extremes(case, normal, random):
    """Some rows have several updates, some none, and some values are equal."""
    edges = np.array([0, 2, 2, 4, 0, 2])
    for axis, shape in ((0, (5, 3)), (1, (2, 5))):
        size = list(shape)
        size[axis] = len(edges)
        wide = np.broadcast_to(edges[:, None] if axis == 0 else edges, size)
        table = random.integers(-2, 3, shape).astype(float)
        updates = random.integers(-2, 3, size).astype(float)
        for reduction in ("max", "min"):
            case(f"ScatterElements_{reduction}_{axis}", "ScatterElements",
                 lambda x, i, u: x.scatter_reduce(axis, i, u, "a" + reduction),
                 [table, wide.copy(), updates], constants=(1,), axis=axis,
                 reduction=reduction)
    case("ScatterNDMax", "ScatterND",
         lambda x, i, u: x.scatter_reduce(
             0, i.reshape(-1, 1).expand(-1, 3), u.reshape(-1, 3), "amax"),
         [normal(5, 3), edges.reshape(2, 3, 1), normal(2, 3, 3)],
         constants=(1,), reduction="max")


def add_cases(case, normal, random):
    extremes(case, normal, random)
    grid_samples(case, normal, random)
    windows(case, normal, random)
    loops(case, normal)
