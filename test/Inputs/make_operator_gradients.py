"""Writes operator-gradients.json: models of single ONNX operators with what
PyTorch computes of them in f64, gradients included, at kinks, ties and
broadcasts.

usage: make_operator_gradients.py

A model's loss is the sum of its results, each element times a cotangent. Its
inputs are named by their order, and those that are floats are trained. Needs the
packages of bench/requirements.txt.
"""

import base64
import json
from pathlib import Path

import numpy as np
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import nn
from torch.nn import functional as F

import recurrent_operators
import sampling_operators
import spectrum_operators
import volume_operators

OUTPUT = Path(__file__).parent / "operator-gradients.json"
TYPES = {np.dtype("float64"): TensorProto.DOUBLE,
         np.dtype("int64"): TensorProto.INT64,
         np.dtype("bool"): TensorProto.BOOL}
random = np.random.default_rng(0)
cases = []


def normal(*shape):
    return random.standard_normal(shape)


def make_model(op, opset, operands, constants, outputs, attributes):
    inputs, initializers, names = [], [], []
    for i, value in enumerate(operands):
        if value is None:
            names.append("")
            continue
        names.append(f"x{i}")
        if i in constants:
            initializers.append(numpy_helper.from_array(value, names[-1]))
        else:
            inputs.append(helper.make_tensor_value_info(
                names[-1], TYPES[value.dtype], value.shape))
    nodes = [helper.make_node(op, names, [f"y{k}" for k in range(outputs)],
                              name="op", **attributes)]
    terms = []
    for k in range(outputs):
        nodes += [helper.make_node("Mul", [f"y{k}", f"c{k}"], [f"p{k}"]),
                  helper.make_node("ReduceSum", [f"p{k}"], [f"s{k}"],
                                   keepdims=0)]
        terms.append(f"s{k}")
    nodes.append(helper.make_node("Sum", terms, ["loss"]))
    return nodes, inputs, initializers


def case(name, op, function, operands, constants=(), opset=20, outputs=1,
         call=None, **attributes):
    """`function` computes in PyTorch what `op` does of the operands; those in
    `constants` are fixed in the model. `call` is what dynamo notes with it."""
    operands = [None if x is None else np.asarray(x) for x in operands]
    nodes, inputs, initializers = make_model(op, opset, operands, constants,
                                             outputs, attributes)
    if call:
        nodes[0].metadata_props.add(
            key="pkg.torch.onnx.fx_node",
            value=f"%y : [num_users=1] = call_function[target="
                  f"torch.ops.aten.{call}, kwargs = {{}})")
    tensors = [None if x is None else torch.tensor(x) for x in operands]
    trained = [i for i, x in enumerate(tensors)
               if x is not None and x.dtype == torch.float64
               and i not in constants]
    for i in trained:
        tensors[i].requires_grad_()
    results = function(*tensors)
    if not isinstance(results, (tuple, list)):
        results = [results]
    data = {f"x{i}": x for i, x in enumerate(operands)
            if x is not None and i not in constants}
    loss = 0
    for k, y in enumerate(results):
        cotangent = np.random.default_rng(k + 1).uniform(0.5, 1.5, y.shape)
        data[f"c{k}"] = cotangent
        inputs.append(helper.make_tensor_value_info(
            f"c{k}", TensorProto.DOUBLE, y.shape))
        loss = loss + (y * torch.tensor(cotangent)).sum()
    loss.backward()
    graph = helper.make_graph(
        nodes, name, inputs,
        [helper.make_tensor_value_info("loss", TensorProto.DOUBLE, [])],
        initializers)
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    cases.append(dict(
        name=name,
        model=base64.b64encode(model.SerializeToString()).decode(),
        inputs={n: dict(shape=list(x.shape),
                        data=x.flatten().astype(float).tolist())
                for n, x in data.items()},
        loss=loss.item(),
        gradients={f"x{i}": (tensors[i].grad if tensors[i].grad is not None
                             else torch.zeros_like(tensors[i]))
                   .flatten().tolist() for i in trained}))


KINKS = np.array([-4.0, -3.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 3.0, 4.0])


def activations():
    slope = float(np.float32(1 / 6))
    table = [
        ("Relu", torch.relu, {}), ("Softplus", F.softplus, {}),
        ("Softsign", F.softsign, {}), ("HardSwish", F.hardswish, {}),
        ("Mish", F.mish, {}), ("Sigmoid", torch.sigmoid, {}),
        ("Tanh", torch.tanh, {}), ("Abs", torch.abs, {}),
        ("Floor", torch.floor, {}), ("Ceil", torch.ceil, {}), ("Round", torch.round, {}),
        ("Erf", torch.erf, {}), ("Exp", torch.exp, {}),
        ("Sin", torch.sin, {}), ("Cos", torch.cos, {}),
        ("Tan", torch.tan, {}), ("Atan", torch.atan, {}),
        ("Sinh", torch.sinh, {}), ("Cosh", torch.cosh, {}),
        ("Asinh", torch.asinh, {}),
        ("LeakyRelu", lambda x: F.leaky_relu(x, 0.25), dict(alpha=0.25)),
        ("Elu", lambda x: F.elu(x, 2), dict(alpha=2.0)),
        ("Celu", lambda x: F.celu(x, 2), dict(alpha=2.0)),
        ("Selu", lambda x: 1.5 * F.elu(x, 1.25), dict(alpha=1.25, gamma=1.5)),
        ("HardSigmoid", lambda x: (slope * x + 0.5).clamp(0, 1),
         dict(alpha=slope, beta=0.5)),
        ("ThresholdedRelu", lambda x: F.threshold(x, 1, 0), dict(alpha=1.0)),
        ("Shrink", lambda x: F.softshrink(x, 0.5),
         dict(bias=0.5, lambd=0.5)),
        ("Gelu", F.gelu, {}),
    ]
    for op, function, attributes in table:
        case(op, op, function, [KINKS], **attributes)
    case("Hardshrink", "Shrink", lambda x: F.hardshrink(x, 0.5), [KINKS],
         bias=0.0, lambd=0.5)
    case("GeluTanh", "Gelu", lambda x: F.gelu(x, approximate="tanh"), [KINKS],
         approximate="tanh")
    case("Swish", "Swish", F.silu, [KINKS], opset=24)
    case("SwishScaled", "Swish", lambda x: x * torch.sigmoid(1.5 * x), [KINKS],
         opset=24, alpha=1.5)
    case("PRelu", "PRelu", lambda x, a: torch.where(x > 0, x, a * x),
         [np.stack([KINKS, -KINKS]), np.array([[0.25], [0.5]])])
    inside = np.array([-0.75, -0.25, 0.0, 0.25, 0.5])
    for op, function in [("Asin", torch.asin), ("Acos", torch.acos),
                         ("Atanh", torch.atanh)]:
        case(op, op, function, [inside])
    positive = np.array([1.25, 2.0, 3.5])
    for op, function in [("Acosh", torch.acosh), ("Log", torch.log),
                         ("Sqrt", torch.sqrt),
                         ("Reciprocal", torch.reciprocal)]:
        case(op, op, function, [positive])
    bounds = [np.array(-1.0), np.array(3.0)]
    case("Clip", "Clip", lambda x, a, b: x.clamp(-1, 3), [KINKS, *bounds],
         constants=(1, 2))
    case("ClipComputed", "Clip", torch.clamp, [KINKS, *bounds])
    case("ClipAttributes", "Clip", lambda x: x.clamp(0, 3), [KINKS], opset=10,
         min=0.0, max=3.0)


def binaries():
    x, y = np.array([[-1.0, 0, 2.0], [3, 1, 1]]), np.array([[0.0], [1.0]])
    case("Add", "Add", torch.add, [x, y])
    case("Sub", "Sub", torch.sub, [x, y])
    case("Mul", "Mul", torch.mul, [x, y])
    case("Div", "Div", torch.div, [x, y + 2])
    case("Max", "Max", torch.maximum, [x, y])
    case("Min", "Min", torch.minimum, [x, y])
    case("MeanOfThree", "Mean", lambda a, b, c: (a + b + c) / 3,
         [x, y, np.array([1.0, 2, 3])])
    case("SumOfThree", "Sum", lambda a, b, c: a + b + c,
         [x, y, np.array([1.0, 2, 3])])
    case("ModTruncated", "Mod", torch.fmod,
         [np.array([5.5, -5.5, 4.0]), np.array([3.0])], fmod=1)
    for exponent in (2.0, 3.0, 0.5, -1.0, 1.5):
        base = np.array([0.25, 1.0, 2.0])
        case(f"Pow{exponent}", "Pow", lambda a, b: a ** exponent,
             [base, np.array(exponent)], constants=(1,))
    case("PowOfZero", "Pow", lambda a, b: a ** 2.0,
         [np.array([0.0, -1.0]), np.array(2.0)], constants=(1,))
    case("PowComputed", "Pow", torch.pow,
         [np.array([0.0, 0.0, 2.0, 1.5]), np.array([2.0, 0.0, 0.0, -2.0])])
    case("Where", "Where", torch.where,
         [np.array([[True], [False]]), x, np.array([1.0, 2, 3])])
    case("MatMul", "MatMul", torch.matmul, [normal(2, 3, 4), normal(4, 5)])
    case("MatMulBroadcast", "MatMul", torch.matmul,
         [normal(2, 1, 3, 4), normal(3, 4, 2)])


def reductions():
    ties = np.array([[1.0, 3, 3, 0], [2, 2, 2, 2], [0, 0, 0, 5]])
    axes = np.array([1])
    table = [
        ("ReduceMax", torch.amax), ("ReduceMin", torch.amin),
        ("ReduceSum", torch.sum), ("ReduceMean", torch.mean),
        ("ReduceLogSumExp", torch.logsumexp), ("ReduceProd", torch.prod),
        ("ReduceL1", lambda x, dim: x.norm(p=1, dim=dim)),
        ("ReduceL2", lambda x, dim: x.norm(dim=dim)),
        ("ReduceSumSquare", lambda x, dim: (x * x).sum(dim)),
    ]
    for op, function in table:
        case(op, op, lambda x, a: function(x, 1), [ties, axes],
             constants=(1,), keepdims=0)
    case("ReduceL2OfZeros", "ReduceL2", lambda x, a: x.norm(dim=1),
         [np.array([[0.0, 0], [3, 4]]), axes], constants=(1,), keepdims=0)
    case("ReduceProdOfFive", "ReduceProd", lambda x, a: x.prod(1),
         [np.array([[1.0, 2, 0, 3, 4], [1, 2, 3, 4, 5]]), axes],
         constants=(1,), keepdims=0)
    x = normal(2, 5, 3)
    for exclusive in (0, 1):
        for reverse in (0, 1):
            def cumsum(x, axis):
                y = x.flip(1) if reverse else x
                s = y.cumsum(1) - (y if exclusive else 0)
                return s.flip(1) if reverse else s
            case(f"CumSum{exclusive}{reverse}", "CumSum", cumsum,
                 [x, np.array(1)], constants=(1,), exclusive=exclusive,
                 reverse=reverse)
    for largest in (0, 1):
        case(f"TopK{largest}", "TopK",
             lambda x, k: torch.topk(x, 3, 1, bool(largest))[0],
             [normal(2, 7, 3), np.array([3])], constants=(1,), axis=1,
             largest=largest)


def lookups():
    x = normal(3, 4, 5)
    index = np.array([[[3, 0], [1, 1]], [[0, 0], [2, 3]], [[1, 2], [3, 3]]])
    case("GatherElements", "GatherElements",
         lambda x, i: torch.gather(x, 1, i), [x, index], axis=1)
    case("GatherElementsLast", "GatherElements",
         lambda x, i: torch.gather(x, 2, i), [x, index], axis=2)
    case("GatherND", "GatherND", lambda x, i: x[i[:, 0], i[:, 1]],
         [x, np.array([[0, 1], [2, 3], [0, 1]])])
    case("GatherNDBatch", "GatherND",
         lambda x, i: torch.stack([a[b[0]] for a, b in zip(x, i)]),
         [x, np.array([[1], [3], [0]])], batch_dims=1)
    case("GatherNDNegative", "GatherND", lambda x, i: x[i[:, 0]],
         [x, np.array([[-1], [1]])], constants=(1,))
    case("Gather", "Gather", lambda x, i: x[:, i],
         [x, np.array([[1, 1], [3, 0]])], axis=1)
    case("GatherConstant", "Gather", lambda x, i: x[:, i],
         [x, np.array([3, -4, 0])], constants=(1,), axis=1)
    rows = np.array([[0], [2], [0]])
    case("ScatterNDAdd", "ScatterND",
         lambda x, i, u: x.index_put((i[:, 0],), u, accumulate=True),
         [x, rows, normal(3, 4, 5)], reduction="add")
    case("ScatterND", "ScatterND",
         lambda x, i, u: x.index_put((i[:, 0], i[:, 1]), u),
         [x, np.array([[0, 1], [2, 3]]), normal(2, 5)], constants=(1,))
    wide = np.array([[0, 3], [2, 1], [3, 3]])
    case("ScatterElementsAdd", "ScatterElements",
         lambda x, i, u: x.scatter_add(1, i, u),
         [normal(3, 4), wide, normal(3, 2)], axis=1, reduction="add")
    case("ScatterElements", "ScatterElements",
         lambda x, i, u: x.scatter(1, i, u),
         [normal(3, 4), wide[:, :1], normal(3, 1)], axis=1)


def shapes():
    x = normal(2, 3, 6)

    def pad(mode, pads, padded):
        case(f"Pad-{mode}", "Pad", lambda x, p: F.pad(x, padded, mode=mode),
             [x, np.array(pads)], constants=(1,),
             mode=dict(replicate="edge", circular="wrap").get(mode, mode))

    pad("constant", [0, 1, 2, 0, 0, 1], (2, 1, 1, 0))
    pad("reflect", [0, 0, 2, 0, 0, 3], (2, 3))
    pad("replicate", [0, 0, 2, 0, 0, 3], (2, 3))
    pad("circular", [0, 0, 2, 0, 0, 3], (2, 3))
    case("PadValue", "Pad", lambda x, p, v: F.pad(x, (1, 2), value=1.5),
         [x, np.array([0, 0, 1, 0, 0, 2]), np.array(1.5)], constants=(1, 2))
    case("PadNegative", "Pad", lambda x, p: F.pad(x, (-1, -2)),
         [x, np.array([0, 0, -1, 0, 0, -2])], constants=(1,))

    def cut(name, start, end, axis, step, function):
        case(f"Slice-{name}", "Slice", function,
             [x] + [np.array([v]) for v in (start, end, axis, step)],
             constants=(1, 2, 3, 4))

    cut("even", 0, 6, 2, 2, lambda x, *_: x[..., ::2])
    cut("odd", 1, 6, 2, 2, lambda x, *_: x[..., 1::2])
    cut("uneven", 0, 6, 2, 4, lambda x, *_: x[..., ::4])
    cut("from-two", 2, 6, 2, 3, lambda x, *_: x[..., 2::3])
    cut("reversed", -1, -2**63, 2, -1, lambda x, *_: x.flip(2))
    cut("reversed-twos", 5, 0, 2, -2, lambda x, *_: x[..., [5, 3, 1]])
    cut("huge-step", 1, 2**63 - 1, 2, 2**63 - 1, lambda x, *_: x[..., 1:2])
    case("Tile", "Tile", lambda x, r: x.repeat(2, 1, 3),
         [x, np.array([2, 1, 3])], constants=(1,))
    case("Expand", "Expand", lambda x, s: x.expand(4, 2, 3, 5),
         [normal(2, 1, 5), np.array([4, 2, 3, 5])], constants=(1,))
    for k in (-1, 0, 2, 2**63 - 1, -2**63):
        clamped = max(min(k, 10), -10)
        case(f"Triu{k}", "Trilu", lambda x, d: x.triu(clamped),
             [x, np.array(k)], constants=(1,), upper=1)
        case(f"Tril{k}", "Trilu", lambda x, d: x.tril(clamped),
             [x, np.array(k)], constants=(1,), upper=0)
    image = normal(2, 8, 2, 3)
    case("DepthToSpace", "DepthToSpace", lambda x: F.pixel_shuffle(x, 2),
         [image], blocksize=2, mode="CRD")
    case("SpaceToDepth", "SpaceToDepth",
         lambda x: F.pixel_unshuffle(x, 2).reshape(2, 3, 4, 2, 2)
         .transpose(1, 2).reshape(2, 12, 2, 2),
         [normal(2, 3, 4, 4)], blocksize=2)
    for name, scale, attributes, keywords in [
            ("nearest", 2, {}, {}),
            ("nearest", 3, dict(coordinate_transformation_mode="asymmetric",
                                nearest_mode="floor"), {}),
            ("linear", 2, {}, dict(mode="bilinear")),
            ("linear", 1.5, dict(
                coordinate_transformation_mode="align_corners"),
             dict(mode="bilinear", align_corners=True)),
            ("cubic", 2, {}, dict(mode="bicubic"))]:
        case(f"Resize-{name}-{scale}", "Resize",
             lambda x, _, s: F.interpolate(x, scale_factor=scale, **keywords),
             [normal(2, 3, 4, 2), None,
              np.array([1, 1, scale, scale], np.float32)], constants=(2,),
             mode=name, **attributes)
    equations = [
        ("bij,bjk->bik", [(2, 3, 4), (2, 4, 5)]),
        ("bhqd,bhkd->bhqk", [(2, 2, 3, 4), (2, 2, 5, 4)]),
        ("...ij,...jk->...ik", [(2, 3, 4), (4, 5)]),
        ("bsd,hde->bhse", [(2, 3, 4), (2, 4, 5)]),
        ("i,j->ij", [(3,), (4,)]), ("bi,bi->b", [(3, 4), (3, 4)]),
        ("ij->ji", [(3, 4)]), ("ijk->j", [(2, 3, 4)]),
        ("bij,jk", [(2, 3, 4), (4, 2)]),
        ("ab,bc,cd->ad", [(2, 3), (3, 4), (4, 2)]),
        ("bnd,bne->bde", [(2, 5, 3), (2, 5, 4)]),
    ]
    for equation, operands in equations:
        case(f"Einsum {equation}", "Einsum",
             lambda *x: torch.einsum(equation, *x),
             [normal(*shape) for shape in operands], equation=equation)


def row_norms():
    """Groups of channels that have no positions."""
    case("GroupNormalizationOfRows", "GroupNormalization",
         lambda x, s, b: F.group_norm(x, 3, s, b, 0.125),
         [normal(4, 6), normal(6), normal(6)], opset=21, num_groups=3,
         epsilon=0.125)


def diagonals():
    for equation, operands in [
            ("bii->bi", [(2, 3, 3)]), ("ibi", [(3, 2, 3)]),
            ("iii->i", [(3, 3, 3)]), ("aiib,ic->abc", [(2, 3, 3, 2), (3, 2)])]:
        case(f"Einsum {equation}", "Einsum",
             lambda *x: torch.einsum(equation, *x),
             [normal(*shape) for shape in operands], equation=equation)


def norms():
    x, scale, bias = normal(2, 6, 3, 2), normal(6), normal(6)
    case("InstanceNormalization", "InstanceNormalization",
         lambda x, s, b: F.instance_norm(x, weight=s, bias=b, eps=0.125),
         [x, scale, bias], epsilon=0.125)
    case("GroupNormalization", "GroupNormalization",
         lambda x, s, b: F.group_norm(x, 3, s, b, 0.125), [x, scale, bias],
         opset=21, num_groups=3, epsilon=0.125)
    case("GroupNormalization18", "GroupNormalization",
         lambda x, s, b: F.group_norm(x, 3, s.repeat_interleave(2),
                                      b.repeat_interleave(2), 0.125),
         [x, normal(3), normal(3)], opset=18, num_groups=3, epsilon=0.125)
    case("LayerNormalization", "LayerNormalization",
         lambda x, s, b: F.layer_norm(x, (3, 2), s, b, 0.125),
         [x, normal(3, 2), normal(3, 2)], axis=-2, epsilon=0.125)
    case("RMSNormalization", "RMSNormalization",
         lambda x, s: F.rms_norm(x, (2,), s, 0.125), [x, normal(2)], opset=23,
         epsilon=0.125)
    case("LpNormalization1", "LpNormalization",
         lambda x: F.normalize(x, 1, 1), [x], axis=1, p=1)
    case("LpNormalization2", "LpNormalization",
         lambda x: F.normalize(x, 2, 1), [x], axis=1, p=2)
    case("MeanVarianceNormalization", "MeanVarianceNormalization",
         lambda x: (x - x.mean((0, 2, 3), True)) /
         (x.var((0, 2, 3), False, True).sqrt() + float(np.float32(1e-9))), [x])
    case("Softmax", "Softmax", lambda x: x.softmax(1), [x], axis=1)
    case("LogSoftmax", "LogSoftmax", lambda x: x.log_softmax(-1), [x])


def attend(q, k, v, mask=None, causal=False, scale=None, enable_gqa=False):
    return F.scaled_dot_product_attention(q, k, v, mask, 0.0, causal,
                                          scale=scale, enable_gqa=enable_gqa)


def attention():
    q, k, v = normal(2, 4, 3, 8), normal(2, 4, 5, 8), normal(2, 4, 5, 8)
    common = dict(opset=23)
    case("Attention", "Attention", attend, [q, k, v], **common)
    case("AttentionScale", "Attention",
         lambda *x: attend(*x, scale=0.25), [q, k, v], scale=0.25, **common)
    case("AttentionCausal", "Attention", lambda *x: attend(*x, causal=True),
         [q, k[:, :, :3], v[:, :, :3]], is_causal=1, **common)
    case("AttentionAdded", "Attention", attend,
         [q, k, v, normal(2, 1, 3, 5)], **common)
    mask = random.random((2, 1, 3, 5)) > 0.4
    mask[0, 0, 0] = False
    case("AttentionMasked", "Attention", attend, [q, k, v, mask], **common)
    case("AttentionGrouped", "Attention",
         lambda *x: attend(*x, enable_gqa=True),
         [q, k[:, :2], v[:, :2]], **common)

    def heads(x, count):
        return x.reshape(*x.shape[:2], count, -1).transpose(1, 2)

    case("AttentionOfRank3", "Attention",
         lambda q, k, v: attend(heads(q, 4), heads(k, 2), heads(v, 2),
                                enable_gqa=True).transpose(1, 2).flatten(2),
         [normal(2, 3, 32), normal(2, 5, 16), normal(2, 5, 16)],
         q_num_heads=4, kv_num_heads=2, **common)

    def turn(x, cos, sin, interleaved):
        size = 2 * cos.shape[-1]
        head, rest = x[..., :size], x[..., size:]
        cos, sin = cos[:, None], sin[:, None]
        if interleaved:
            a, b = head[..., ::2], head[..., 1::2]
            y = torch.stack([a * cos - b * sin, a * sin + b * cos], -1)
            y = y.flatten(-2)
        else:
            a, b = head.chunk(2, -1)
            y = torch.cat([a * cos - b * sin, a * sin + b * cos], -1)
        return torch.cat([y, rest], -1)

    cos, sin = normal(7, 4), normal(7, 4)
    positions = np.array([[0, 1, 2], [4, 3, 6]])
    for interleaved in (0, 1):
        case(f"RotaryEmbedding{interleaved}", "RotaryEmbedding",
             lambda x, c, s, p: turn(x, c[p], s[p], interleaved),
             [q, cos, sin, positions], opset=23, interleaved=interleaved)
    case("RotaryEmbeddingOfPart", "RotaryEmbedding",
         lambda x, c, s, p: turn(x, c[p][..., :2], s[p][..., :2], False),
         [q, cos[:, :2], sin[:, :2], positions], opset=23,
         rotary_embedding_dim=4)


def losses():
    scores, labels = normal(4, 5), np.array([1, 0, 4, 2])
    ignored = np.array([1, -100, 4, -100])
    pixels, marks = normal(2, 5, 3), np.array([[0, 1, 4], [-1, 2, 2]])
    weights = random.uniform(0.5, 2, 5)
    for reduction in ("mean", "sum", "none"):
        for op, prepare in [("SoftmaxCrossEntropyLoss", lambda x: x),
                            ("NegativeLogLikelihoodLoss",
                             lambda x: x.log_softmax(1))]:
            def compute(x, t, w=None, ignore=-100):
                x = x.log_softmax(1) if op.startswith("Soft") else x
                return F.nll_loss(x, t, w, reduction=reduction,
                                  ignore_index=ignore)
            given = prepare(torch.tensor(scores)).numpy()
            short = op[:4] + reduction
            case(short, op, compute, [given, labels], reduction=reduction)
            case(short + "Ignored", op, compute, [given, ignored],
                 reduction=reduction, ignore_index=-100)
            case(short + "Weighted", op, compute, [given, ignored, weights],
                 constants=(2,), reduction=reduction, ignore_index=-100)
            if op.startswith("Soft"):
                case(short + "Smoothed", op,
                     lambda x, t, w: F.cross_entropy(
                         x, t, w, reduction=reduction, label_smoothing=0.25),
                     [given, ignored, weights], constants=(2,),
                     reduction=reduction, ignore_index=-100,
                     call="cross_entropy_loss.default](args = "
                          "(%x, %t, %w, 1, -100, 0.25)")
            case(short + "Pixels", op,
                 lambda x, t, w: compute(x, t, w, -1),
                 [prepare(torch.tensor(pixels)).numpy(), marks, weights],
                 constants=(2,), reduction=reduction, ignore_index=-1)


for write in (activations, binaries, reductions, lookups, shapes, norms,
              attention, losses):
    write()
for operators in (recurrent_operators, volume_operators, spectrum_operators):
    operators.add_cases(case, normal)
sampling_operators.add_cases(case, normal, random)
diagonals()
row_norms()
OUTPUT.write_text("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")
print(f"{len(cases)} cases")
