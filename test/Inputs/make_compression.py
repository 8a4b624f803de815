"""Writes compression.json: losses, gradient norms and weights of 20 steps of
four workers that exchange compressed gradients, in f64; compression.data,
what mlp-digits is trained on for it; and contraction.onnx with its data.

usage: make_compression.py

An independent simulation of the papers that docs/Architecture/Exchange.md
names: PyTorch computes the gradient of each worker's samples, NumPy all else,
and random numbers are those of the specification of dtc.random_uniform. Takes
models and data as they are in this directory. Needs the packages of
bench/requirements.txt.
"""

import json
import zlib
from pathlib import Path

import numpy as np
import onnx
import torch
from torch.nn import functional as F

from make_training_options import make_module
from models import TinyGPT2, round_constants
from reference import BATCH, fingerprint

HERE = Path(__file__).parent
STEPS = 20
WORKERS = 4
SEED = 0


# ---------------------------------------------------------------------------
# Random numbers
# ---------------------------------------------------------------------------

def philox(key, counter):
    """Philox 4x32-10 (Salmon et al., SC 2011) of arrays of counters."""
    mask = np.uint64(0xFFFFFFFF)
    c = [np.asarray(x, np.uint64) & mask for x in np.broadcast_arrays(*counter)]
    k0, k1 = key & 0xFFFFFFFF, key >> 32
    for _ in range(10):
        p0 = np.uint64(0xD2511F53) * c[0]
        p1 = np.uint64(0xCD9E8D57) * c[2]
        c = [(p1 >> np.uint64(32)) ^ c[1] ^ np.uint64(k0), p1 & mask,
             (p0 >> np.uint64(32)) ^ c[3] ^ np.uint64(k1), p0 & mask]
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return c


def uniform(name, shape, step):
    """dtc.random_uniform: element i is word i % 4 of block i / 4."""
    count = int(np.prod(shape))
    blocks = np.arange((count + 3) // 4, dtype=np.uint64)
    number = zlib.crc32(name.encode()) | 0x80000000
    words = np.stack(philox(SEED, (blocks, step, 4, number)), 1).reshape(-1)
    return ((words[:count] // 512 + 0.5) / 2.0**23).reshape(shape)


# ---------------------------------------------------------------------------
# Compressors: of a list of the workers' gradients of one tensor. Each returns
# what each worker's codes stand for.
# ---------------------------------------------------------------------------

class Compressor:
    outer = False  # whether the sum is compressed as well
    is_biased = True

    def __init__(self, feedback):
        self.feedback = feedback

    def each(self, name, values, step, use="terms"):
        return [self.one(name, v, step, use, i) for i, v in enumerate(values)]

    def sum(self, name, values, step):
        sent = self.each(name, values, step)
        return sum(sent), sent


class TopK(Compressor):
    def __init__(self, ratio, feedback="on"):
        super().__init__(feedback)
        self.ratio = ratio

    def count(self, x):
        return min(max(int(np.floor(self.ratio * x.size + 0.5)), 1), x.size)

    def one(self, name, x, step, use, worker):
        flat = x.reshape(-1)
        places = np.argsort(-np.abs(flat), kind="stable")[:self.count(x)]
        sent = np.zeros_like(flat)
        sent[places] = flat[places]
        return sent.reshape(x.shape)


class RandK(TopK):
    def one(self, name, x, step, use, worker):
        flat, count = x.reshape(-1), self.count(x)
        keys = uniform(f"{name}/places", flat.shape, step)
        places = np.argsort(-keys, kind="stable")[:count]
        sent = np.zeros_like(flat)
        sent[places] = flat[places]
        if self.feedback == "off":
            sent *= flat.size / count
        return sent.reshape(x.shape)


class Blocks(Compressor):
    def __init__(self, block, feedback="on", outer=True):
        super().__init__(feedback)
        self.block, self.outer = block, outer

    def one(self, name, x, step, use, worker):
        flat, sent = x.reshape(-1), []
        whole = -(-flat.size // self.block) * self.block
        random = self.random(name, use, whole, worker, step)
        for start in range(0, flat.size, self.block):
            part = slice(start, min(start + self.block, flat.size))
            sent.append(self.code(flat[part], random[part]))
        return np.concatenate(sent).reshape(x.shape)

    def random(self, name, use, size, worker, step):
        return np.zeros(size)


class Sign(Blocks):
    def code(self, x, random):
        return np.where(x >= 0, 1, -1) * np.abs(x).sum() / x.size


class Integers(Blocks):
    def __init__(self, block, levels, **options):
        super().__init__(block, **options)
        self.levels = levels

    def code(self, x, random):
        scale = np.abs(x).max() / self.levels
        return np.floor(x / max(scale, 1e-30) + 0.5) * scale


class Qsgd(Blocks):
    def __init__(self, levels, **options):
        super().__init__(512, **options)
        self.levels = levels

    def random(self, name, use, size, worker, step):
        rows = WORKERS if use == "terms" else 1
        numbers = uniform(f"{name}/{use}", (rows, size), step)
        return numbers[worker if rows > 1 else 0]

    def code(self, x, random):
        scale = np.sqrt((x * x).sum()) / self.levels
        level = np.minimum(np.floor(np.abs(x / max(scale, 1e-30)) + random),
                           self.levels)
        if self.feedback != "off":
            n, s = self.block, self.levels
            scale /= 1 + min(n / s**2, np.sqrt(n) / s)
        return np.where(x < 0, -level, level) * scale


class PowerSgd(Compressor):
    def __init__(self, rank, feedback="on"):
        super().__init__(feedback)
        self.rank, self.right = rank, {}

    def sum(self, name, values, step):
        shape = values[0].shape
        rows = shape[0] if len(shape) > 1 else 1
        columns = values[0].size // rows
        if (rows + columns) * self.rank * 2 >= rows * columns:
            return sum(values), values
        matrices = [v.reshape(rows, columns) for v in values]
        right = self.right.get(name)
        if right is None:
            right = uniform(f"{name}/factor", (columns, self.rank), step) - 0.5
        left = sum(m @ right for m in matrices)
        left = np.linalg.qr(left)[0]
        self.right[name] = sum(m.T @ left for m in matrices)
        total = (left @ self.right[name].T).reshape(shape)
        return total, [total / WORKERS] * WORKERS


class Dense(Compressor):
    def one(self, name, x, step, use, worker):
        return x


class Exchange:
    """The sum of the workers' gradients of `delay` steps ago, with error
    feedback."""

    def __init__(self, compressor, delay=0):
        self.compressor, self.delay, self.waiting = compressor, delay, {}
        self.states, self.of_sum = {}, {}
        self.known, self.velocities = {}, {}

    def __call__(self, name, gradients, step):
        c = self.compressor
        zero = np.zeros_like(gradients[0])
        queue = self.waiting.setdefault(name, [[zero] * WORKERS] * self.delay)
        self.waiting[name] = [*queue, gradients]
        gradients = self.waiting[name].pop(0)
        states = self.states.setdefault(name, [zero] * WORKERS)
        if c.feedback == "on":
            values = [g + e for g, e in zip(gradients, states)]
        elif c.feedback == "ef21":
            values = [g - h for g, h in zip(gradients, states)]
        elif c.feedback.startswith("dgc:"):
            momentum = float(c.feedback[4:])
            velocities = [momentum * u + g for u, g in
                          zip(self.velocities.get(name, [zero] * WORKERS),
                              gradients)]
            values = [u + e for u, e in zip(velocities, states)]
        else:
            values = gradients
        total, sent = c.sum(name, values, step)
        if c.outer:
            if c.feedback != "off":
                total = total + self.of_sum.get(name, zero)
            decoded = c.one(name, total, step, "sum", 0)
            self.of_sum[name] = total - decoded
            total = decoded
        if c.feedback == "on":
            self.states[name] = [v - s for v, s in zip(values, sent)]
        elif c.feedback.startswith("dgc:"):
            self.states[name] = [v - s for v, s in zip(values, sent)]
            self.velocities[name] = [np.where(s == 0, u, 0) for u, s in
                                     zip(velocities, sent)]
        elif c.feedback == "ef21":
            self.states[name] = [h + s for h, s in zip(states, sent)]
            total = self.known[name] = self.known.get(name, zero) + total
        return total


# ---------------------------------------------------------------------------
# Training
# ---------------------------------------------------------------------------

def write_data():
    """Samples for mlp-digits. Pixels have ratios such as 1/2, so gradients
    would lie between two codes, and rounding would decide."""
    random = np.random.default_rng(0)
    folder = HERE / "compression.data"
    folder.mkdir(exist_ok=True)
    np.save(folder / "input.npy",
            random.standard_normal((160, 64)).astype(np.float32))
    np.save(folder / "labels.npy", random.integers(0, 10, 160, np.uint8))


def load_batches(name):
    folder, file = {"mlp-digits": ("compression.data", "input"),
                    "gpt2-tiny": ("gpt2-tiny.data", "input_ids")}[name]
    inputs, labels = (torch.from_numpy(np.load(HERE / folder / f"{n}.npy"))
                      for n in (file, "labels"))
    inputs = inputs.double() if inputs.is_floating_point() else inputs.long()
    count = len(inputs) // BATCH
    for step in range(STEPS):
        rows = slice(step % count * BATCH, (step % count + 1) * BATCH)
        yield inputs[rows], labels[rows].long()


def load_module(name):
    if name == "mlp-digits":
        return make_module(name)
    graph = onnx.load(HERE / f"{name}.onnx").graph
    tensors = {t.name: torch.from_numpy(onnx.numpy_helper.to_array(t).copy())
               for t in graph.initializer}
    module = TinyGPT2().double().eval()
    round_constants(module)
    with torch.no_grad():
        for key, parameter in module.named_parameters():
            if key in tensors:  # else equal to another: zeros or ones
                parameter.copy_(tensors[key])
    return module


def train(name, compressor, make_optimizer, clip=float("inf"), weights=True,
          delay=0):
    module = load_module(name)
    optimizer = make_optimizer(module.parameters())
    exchange = Exchange(compressor, delay)
    run = dict(loss=[], grad_norm=[])
    for step, (inputs, labels) in enumerate(load_batches(name), start=1):
        total, terms = 0, []
        for rows in zip(inputs.chunk(WORKERS), labels.chunk(WORKERS)):
            optimizer.zero_grad()
            loss = F.cross_entropy(module(rows[0]).flatten(0, -2),
                                   rows[1].flatten()) / WORKERS
            loss.backward()
            total += loss.item()
            terms.append({n: p.grad.numpy().copy()
                          for n, p in module.named_parameters()})
        for key, parameter in module.named_parameters():
            decoded = exchange(key, [t[key] for t in terms], step)
            parameter.grad = torch.from_numpy(decoded.copy())
        norm = torch.nn.utils.clip_grad_norm_(module.parameters(), clip)
        run["loss"].append(total)
        run["grad_norm"].append(norm.item())
        optimizer.step()
    if weights:
        run["weights"] = {n: fingerprint(p.detach())
                          for n, p in module.named_parameters()}
    return run


def digits(compressor, **options):
    return train("mlp-digits", compressor,
                 lambda p: torch.optim.SGD(p, 0.05, momentum=0.9), **options)


def gpt2(compressor):
    return train("gpt2-tiny", compressor,
                 lambda p: torch.optim.AdamW(p, 1e-3), weights=False)


def write_contraction():
    """contraction.onnx, whose gradient by w is the mean of its samples, and
    samples that are all one matrix: of normal numbers, of numbers with a heavy
    tail (Student's t of 3 degrees of freedom), and of rank 3 with singular
    values 3, 2 and 1."""
    size = 64
    helper, proto = onnx.helper, onnx.TensorProto
    graph = helper.make_graph(
        [helper.make_node("Mul", ["x", "w"], ["y"]),
         helper.make_node("ReduceMean", ["y"], ["mean"], axes=[0], keepdims=0),
         helper.make_node("ReduceSum", ["mean"], ["loss"], keepdims=0)],
        "contraction",
        [helper.make_tensor_value_info("x", proto.FLOAT, ["N", size, size])],
        [helper.make_tensor_value_info("loss", proto.FLOAT, [])],
        [onnx.numpy_helper.from_array(np.zeros((size, size), np.float32), "w")])
    onnx.save(helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 12)], ir_version=8),
        HERE / "contraction.onnx")
    random = np.random.default_rng(1)
    left, right = (np.linalg.qr(random.standard_normal((size, 3)))[0]
                   for _ in range(2))
    for name, matrix in {
            "normal": random.standard_normal((size, size)),
            "heavy": random.standard_t(3, (size, size)),
            "rank3": left @ np.diag([3, 2, 1]) @ right.T}.items():
        folder = HERE / f"contraction-{name}.data"
        folder.mkdir(exist_ok=True)
        np.save(folder / "x.npy", np.stack([matrix] * 2).astype(np.float32))


def main():
    write_data()
    write_contraction()
    report = {
        "topk": digits(TopK(0.05)),
        "topk-off": digits(TopK(0.05, "off")),
        "topk-ef21": digits(TopK(0.05, "ef21")),
        "topk-dgc": train("mlp-digits", TopK(0.05, "dgc:0.9"),
                          lambda p: torch.optim.SGD(p, 0.05)),
        "topk-clip": digits(TopK(0.05), clip=0.5),
        "randk": digits(RandK(0.1)),
        "randk-off": digits(RandK(0.1, "off")),
        "sign": digits(Sign(1024)),
        "sign-zero": digits(Sign(1024, outer=False)),
        "int8": digits(Integers(256, 127)),
        "int8-off": digits(Integers(256, 127, feedback="off")),
        "int8-ef21": digits(Integers(256, 127, feedback="ef21")),
        "int8-zero": digits(Integers(256, 127, outer=False)),
        "int4": digits(Integers(64, 7)),
        "qsgd": digits(Qsgd(16)),
        "qsgd-off": digits(Qsgd(5, feedback="off")),
        "delayed": digits(Dense("off"), delay=1),
        "delayed3": digits(Dense("off"), delay=3),
        "delayed-topk": digits(TopK(0.05), delay=2),
        "powersgd": digits(PowerSgd(2)),
        "gpt2-delayed": train("gpt2-tiny", Dense("off"),
                              lambda p: torch.optim.AdamW(p, 1e-3),
                              weights=False, delay=1),
        "gpt2-topk": gpt2(TopK(0.01)),
        "gpt2-int8": gpt2(Integers(256, 127)),
        "gpt2-powersgd": gpt2(PowerSgd(4)),
    }
    (HERE / "compression.json").write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
