"""The models of the tests and their data: what is exported to ONNX."""

import csv
import gzip
from collections import OrderedDict
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from transformers import GPT2Config, GPT2LMHeadModel

from resnet import ResNet

CONTEXT = 128


def as_f32(value):
    """The value an ONNX file keeps of a constant: rounded to float32."""
    return float(np.float32(value))


@dataclass
class Model:
    """A module with its data. `sgd_lr` is the rate of the SGD references."""

    name: str
    module: nn.Module
    input_name: str
    output_name: str
    inputs: np.ndarray
    labels: np.ndarray
    loss: str
    sgd_lr: float

    def batch(self, step, size, dtype):
        """Inputs and labels of a step counted from 0, rows taken in order."""
        batches = len(self.inputs) // size
        rows = slice(step % batches * size, (step % batches + 1) * size)
        inputs, labels = (torch.from_numpy(array[rows])
                          for array in (self.inputs, self.labels))
        if self.inputs.dtype.kind == "f":
            inputs = inputs.to(dtype)
        else:
            inputs = inputs.long()
        if self.labels.dtype.kind == "f":
            return inputs, labels.to(dtype)
        return inputs, labels.long()

    def compute_loss(self, module, inputs, labels):
        outputs = module(inputs)
        if self.loss == "mse":
            return nn.functional.mse_loss(outputs, labels)
        return nn.functional.cross_entropy(outputs.flatten(0, -2),
                                           labels.flatten())


def toy():
    """The model of PyTorch's DDP tutorial. 100 rows: an epoch has 3 batches
    of 32 and 4 rows that are dropped, so 20 steps wrap around."""
    torch.manual_seed(0)
    module = nn.Sequential()
    module.add_module("net1", nn.Linear(10, 10))
    module.add_module("relu", nn.ReLU())
    module.add_module("net2", nn.Linear(10, 5))
    random = np.random.default_rng(0)
    inputs = random.standard_normal((100, 10), np.float32)
    labels = random.standard_normal((100, 5), np.float32)
    return Model("toy", module, "input", "output", inputs, labels, "mse", 0.1)


def mlp_digits(digits_path):
    """64-128-64-10 classifier of scikit-learn's digits, scaled to [0, 1]."""
    torch.manual_seed(1)
    module = nn.Sequential()
    for index, (fan_in, fan_out) in enumerate([(64, 128), (128, 64)], start=1):
        module.add_module(f"fc{index}", nn.Linear(fan_in, fan_out))
        module.add_module(f"relu{index}", nn.ReLU())
    module.add_module("fc3", nn.Linear(64, 10))
    return Model("mlp-digits", module, "input", "logits",
                 *read_digits(digits_path, slice(1500)), "cross-entropy", 0.1)


def read_digits(path, rows, shape=(64,)):
    """Images of scikit-learn's digits, scaled to [0, 1], and their labels."""
    with gzip.open(path, "rt") as file:
        table = np.array([row for row in csv.reader(file)], np.float32)[rows]
    return (np.ascontiguousarray(table[:, :64] / 16).reshape(-1, *shape),
            table[:, 64].astype(np.uint8))


IMAGE = (1, 8, 8)
IMAGES = 640


def resnet_digits(digits_path):
    """A basic block of 16 channels and one of 32 on digits as images, exported
    in training mode. 640 rows: 20 batches of 32."""
    torch.manual_seed(4)
    module = ResNet([1, 1], is_bottleneck=False, width=16, channels=1,
                    classes=10, stem=(3, 1), pool=1)
    for child in module.modules():
        if isinstance(child, nn.BatchNorm2d):  # starts that leave traces
            nn.init.uniform_(child.weight, 0.5, 1.5)
            nn.init.normal_(child.bias, std=0.1)
            nn.init.normal_(child.running_mean, std=0.1)
            nn.init.uniform_(child.running_var, 0.5, 1.5)
    return Model("resnet-digits", module, "input", "logits",
                 *read_digits(digits_path, slice(IMAGES), IMAGE),
                 "cross-entropy", 0.1)


def convnet_digits(digits_path):
    """Convolutions with biases, in groups, dilated, not square; a max pool of
    values below zero; average pools that do and do not count the padding."""
    torch.manual_seed(5)
    module = nn.Sequential(OrderedDict(
        conv1=nn.Conv2d(1, 8, 3, padding=1), relu1=nn.ReLU(),
        pool1=nn.MaxPool2d(2),
        conv2=nn.Conv2d(8, 16, (3, 2), padding=(1, 0), groups=4),
        pool2=nn.MaxPool2d(3, stride=1, padding=1),
        pool3=nn.AvgPool2d(3, stride=1, padding=1, count_include_pad=False),
        conv3=nn.Conv2d(16, 16, 3, padding=2, dilation=2), relu3=nn.ReLU(),
        pool4=nn.AvgPool2d(2, padding=1), flatten=nn.Flatten(),
        fc1=nn.Linear(96, 32), relu4=nn.ReLU(), fc2=nn.Linear(32, 10)))
    for layer in module:
        if hasattr(layer, "weight"):
            nn.init.kaiming_normal_(layer.weight)
    return Model("convnet-digits", module, "input", "logits",
                 *read_digits(digits_path, slice(IMAGES), IMAGE),
                 "cross-entropy", 0.1)


def gpt2_tiny_config(attention):
    return GPT2Config(vocab_size=256, n_positions=CONTEXT, n_embd=128,
                      n_layer=4, n_head=4, resid_pdrop=0, embd_pdrop=0,
                      attn_pdrop=0, use_cache=False, bos_token_id=0,
                      eos_token_id=0, attn_implementation=attention)


class TinyGPT2(nn.Module):
    """GPT2LMHeadModel as a function from ids to logits. The causal mask is
    passed in prepared, since the TorchScript exporter refuses the packed
    sequence detection (aten::diff) that runs without one."""

    def __init__(self):
        super().__init__()
        self.model = GPT2LMHeadModel(gpt2_tiny_config("eager"))

    def forward(self, input_ids):
        length = input_ids.shape[-1]
        lowest = torch.finfo(torch.float32).min
        mask = torch.full((length, length), lowest).triu(1)[None, None]
        mask = mask.to(self.model.dtype)
        return self.model(input_ids=input_ids, attention_mask=mask,
                          use_cache=False).logits


class ExportedGELU(nn.Module):
    """transformers' gelu_new with the constants of the exported graph."""

    def forward(self, x):
        inner = as_f32(np.sqrt(2 / np.pi)) * (x + as_f32(0.044715) * x**3)
        return 0.5 * x * (1 + torch.tanh(inner))


def gpt2_tiny(text_path):
    """Four-layer GPT-2 over bytes; row i is bytes 128 i .. 128 i + 127 and its
    labels are the bytes one further on. 4096 rows."""
    torch.manual_seed(2)
    module = TinyGPT2().eval()
    with gzip.open(text_path) as file:
        text = np.frombuffer(file.read(), np.uint8)
    inputs, labels = (
        text[shift:shift + 4096 * CONTEXT].reshape(-1, CONTEXT).copy()
        for shift in (0, 1))
    return Model("gpt2-tiny", module, "input_ids", "logits", inputs, labels,
                 "cross-entropy", 0.1)


class Projection(nn.Module):
    """A linear layer with the weight that its file has: of nn.Linear on three
    dimensions the exporter writes the transpose, under a name of its own."""

    def __init__(self, fan_in, fan_out):
        super().__init__()
        linear = nn.Linear(fan_in, fan_out)
        self.weight = nn.Parameter(linear.weight.detach().T.contiguous())
        self.bias = nn.Parameter(linear.bias.detach())

    def forward(self, x):
        return x @ self.weight + self.bias


class FusedAttention(nn.Module):
    """Attention as in timm's ViT: queries, keys and values are one product,
    reshaped and transposed before they are taken apart."""

    def __init__(self, width, heads, is_indexed):
        super().__init__()
        self.heads = heads
        self.is_indexed = is_indexed
        self.qkv = Projection(width, 3 * width)
        self.proj = Projection(width, width)

    def forward(self, x):
        batch, length, width = x.shape
        head_width = width // self.heads
        qkv = self.qkv(x).reshape(batch, length, 3, self.heads, head_width)
        qkv = qkv.permute(2, 0, 3, 1, 4)
        q, k, v = ((qkv[0], qkv[1], qkv[2]) if self.is_indexed
                   else qkv.unbind(0))
        scores = (q * head_width**-0.5) @ k.transpose(-2, -1)
        y = scores.softmax(-1) @ v
        return self.proj(y.transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    def __init__(self, width, heads, is_indexed):
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.attn = FusedAttention(width, heads, is_indexed)
        self.norm2 = nn.LayerNorm(width)
        self.fc1 = Projection(width, 2 * width)
        self.fc2 = Projection(2 * width, width)

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.fc2(self.fc1(self.norm2(x)).relu())


class TinyViT(nn.Module):
    """[batch, 8 patches, 6] -> [batch, 10]. One attention takes its parts by
    unbind (Split, Squeeze), the other by index (Gather)."""

    def __init__(self, width=16, heads=4):
        super().__init__()
        self.embed = Projection(6, width)
        self.position = nn.Parameter(torch.randn(1, 8, width) * 0.02)
        self.blocks = nn.ModuleList(
            Block(width, heads, is_indexed) for is_indexed in (False, True))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        x = self.embed(x) + self.position
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x).mean(1))


def vit_tiny():
    """Two-layer ViT on random patches: 64 rows, two batches of 32."""
    torch.manual_seed(3)
    module = TinyViT()
    random = np.random.default_rng(3)
    inputs = random.standard_normal((64, 8, 6), np.float32)
    labels = random.integers(0, 10, 64).astype(np.uint8)
    return Model("vit-tiny", module, "patches", "logits", inputs, labels,
                 "cross-entropy", 0.1)


def round_constants(module):
    """Rounds the constants inside a module to float32, as the exporter does:
    only then does the module in f64 compute what the ONNX file in f64 does."""
    for child in module.modules():
        if isinstance(child, nn.LayerNorm):
            child.eps = as_f32(child.eps)
        if isinstance(child, nn.BatchNorm2d):
            child.eps = as_f32(child.eps)
            child.momentum = 1 - as_f32(1 - child.momentum)  # as ONNX counts
        if hasattr(child, "scaling"):
            child.scaling = as_f32(child.scaling)
        if type(getattr(child, "act", None)).__name__ == "NewGELUActivation":
            child.act = ExportedGELU()


class TimeMajor(nn.Module):
    """Attention as in nn.MultiheadAttention: the sequence comes first, then the
    batch, alone, before heads or behind positions in one dimension. A class
    token and positions are repeated for the batch."""

    def __init__(self, width=16, heads=4, length=5):
        super().__init__()
        self.heads = heads
        self.embed = Projection(6, width)
        self.token = nn.Parameter(torch.randn(1, 1, width))
        self.positions = nn.Embedding(length + 1, width)
        self.qkv = Projection(width, 3 * width)
        self.proj = Projection(width, width)
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, 4)

    def forward(self, x):
        x = self.embed(x).transpose(0, 1)
        x = torch.cat([self.token.expand(-1, x.shape[1], -1), x])
        length, batch, width = x.shape
        ids = torch.arange(length).expand(batch, length)
        x = x + self.positions(ids).transpose(0, 1)
        q, k, v = (part.reshape(length, batch * self.heads, -1).transpose(0, 1)
                   for part in self.qkv(x).chunk(3, -1))
        y = torch.bmm((q * (width // self.heads)**-0.5
                       @ k.transpose(1, 2)).softmax(-1), v)
        y = self.proj(y.transpose(0, 1).reshape(length * batch, width))
        return self.head(self.norm(x + y.view(length, batch, width))[0])


class Mixing(nn.Module):
    """Samples that depend on each other: a gate that sees the mean sample, means
    and a softmax over the batch, a norm of all of it, samples that change
    places."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(6, 16)
        self.gate = nn.Linear(16, 16)
        self.last = nn.Linear(16, 4)

    def forward(self, x):
        x = torch.tanh(self.first(x))
        x = x * torch.sigmoid(self.gate(x.mean(0, keepdim=True)))
        x = (x - x.mean(0)) * (1 + x.softmax(0))
        half = x.shape[0] // 2
        x = x + torch.tanh(torch.cat([x[half:], x[:half]]))
        return self.last(x / torch.sqrt((x * x).mean() + 0.125))


class Matching(nn.Module):
    """Samples that are matched with each other, as contrastive losses do:
    scores of all pairs, from both sides."""

    def __init__(self):
        super().__init__()
        self.image = nn.Linear(6, 8)
        self.text = nn.Linear(6, 8)
        self.value = nn.Linear(6, 4)

    def forward(self, x):
        scores = self.image(x) @ self.text(x).transpose(0, 1) * 0.25
        scores = torch.sigmoid(scores) * scores.transpose(0, 1)
        return scores @ self.value(x) / x.shape[0]


class Masked(nn.Module):
    """Attention with masks: of booleans, by which some queries see no key; of
    large numbers, one for all queries; and a constant of each head, with two
    heads for each group of keys."""

    def __init__(self, width=16, heads=2, length=6):
        super().__init__()
        self.heads = heads
        self.embed = nn.Linear(5, width)
        for layer in range(3):
            self.add_module(f"q{layer}", nn.Linear(width, width))
            groups = heads // 2 if layer == 2 else heads
            for name in "kv":
                linear = nn.Linear(width, groups * width // heads,
                                   bias=name == "v")  # keys' has no gradient
                self.add_module(f"{name}{layer}", linear)
            self.add_module(f"proj{layer}", nn.Linear(width, width))
        distance = torch.arange(length)[None, :] - torch.arange(length)[:, None]
        slopes = 2.0 ** -torch.arange(1, heads + 1)[:, None, None]
        self.register_buffer("bias", (slopes * distance).masked_fill(
            distance > 0, -torch.inf), persistent=False)
        for name, weight in self.named_parameters():
            if name[0] in "qk":  # scores that differ
                nn.init.normal_(weight, std=0.7)
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, 4)

    def attend(self, layer, x, mask):
        def project(name):
            y = getattr(self, f"{name}{layer}")(x)
            width = x.shape[2] // self.heads
            return y.view(*x.shape[:2], -1, width).transpose(1, 2)

        q, k, v = (project(name) for name in "qkv")
        k, v = (y.repeat_interleave(self.heads // y.shape[1], 1) for y in (k, v))
        # The CPU's fused kernel has wrong gradients where all numbers are large.
        with sdpa_kernel(SDPBackend.MATH):
            y = nn.functional.scaled_dot_product_attention(q, k, v, mask)
        return x + getattr(self, f"proj{layer}")(y.transpose(1, 2).flatten(2))

    def forward(self, x):
        kept = x[:, None, None, :, -1] > 0
        x = self.embed(x)
        x = self.attend(0, x, kept & (self.bias[:1] > -torch.inf)[None])
        hidden = torch.zeros_like(kept, dtype=x.dtype).masked_fill(
            ~kept, torch.finfo(torch.float32).min)
        x = self.attend(1, x, hidden)
        x = self.attend(2, x, self.bias[None].to(x.dtype))
        return self.head(self.norm(x).mean(1))


def of_random_rows(name, seed, module_type, shape):
    """A classifier of random rows into 4 classes. 100 rows."""
    torch.manual_seed(seed)
    module = module_type()
    random = np.random.default_rng(seed)
    inputs = random.standard_normal((100, *shape), np.float32)
    labels = random.integers(0, 4, 100).astype(np.uint8)
    return Model(name, module, "input", "logits", inputs, labels,
                 "cross-entropy", 0.1)


def time_major():
    return of_random_rows("time-major", 6, TimeMajor, (5, 6))


def masked():
    return of_random_rows("masked", 9, Masked, (6, 5))


def mixing():
    return of_random_rows("mixing", 7, Mixing, (6,))


def matching():
    return of_random_rows("matching", 8, Matching, (6,))
