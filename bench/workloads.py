"""The models and data of compare.py. A model is a PyTorch module that computes
logits from its one argument, x. Dropout is off, because contenders would draw
different masks."""

from dataclasses import dataclass
from typing import Callable


@dataclass
class Workload:
    batch: int
    module: Callable  # () -> torch.nn.Module
    inputs: Callable  # (samples) -> tensor
    labels: Callable  # (samples) -> tensor of classes
    steps: int        # of a round, some seconds
    widths: tuple = ()  # of an MLP; JAX trains MLPs, too


def classes(shape, count):
    def make(samples):
        import torch
        return torch.randint(0, count, (samples, *shape))
    return make


def pixels(*shape):
    def make(samples):
        import torch
        return torch.randn(samples, *shape)
    return make


def mlp(batch, widths, steps):
    def module():
        from torch import nn
        layers = []
        for before, after in zip(widths, widths[1:]):
            layers += [nn.Linear(before, after), nn.ReLU()]
        return nn.Sequential(*layers[:-1])
    return Workload(batch, module, pixels(widths[0]),
                    classes((), widths[-1]), steps, widths)


def convolutional(batch, side, steps, make, count=1000):
    def module():
        import torchvision
        return make(torchvision.models)
    return Workload(batch, module, pixels(3, side, side), classes((), count),
                    steps)


def resnet18_cifar(models):
    from torch import nn
    net = models.resnet18(num_classes=10)
    net.conv1 = nn.Conv2d(3, 64, 3, padding=1, bias=False)
    net.maxpool = nn.Identity()
    return net


def transformer(batch, length, vocabulary, steps, make):
    def module():
        import torch
        import transformers

        class Logits(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.model = make(transformers)

            def forward(self, x):
                return self.model(x).logits

        return Logits()
    draw = classes((length,), vocabulary)
    return Workload(batch, module, draw, draw, steps)


def gpt2(batch, length, steps, vocabulary=50257, **sizes):
    return transformer(
        batch, length, vocabulary, steps,
        lambda hf: hf.GPT2LMHeadModel(hf.GPT2Config(
            vocab_size=vocabulary, n_positions=length, resid_pdrop=0,
            embd_pdrop=0, attn_pdrop=0, use_cache=False, **sizes)))


def bert(batch, length, steps):
    return transformer(
        batch, length, 30522, steps,
        lambda hf: hf.BertForMaskedLM(hf.BertConfig(
            hidden_dropout_prob=0, attention_probs_dropout_prob=0)))


def lstm(batch, length, vocabulary, wide, hidden, layers, steps):
    def module():
        from torch import nn

        class Language(nn.Module):
            def __init__(self):
                super().__init__()
                self.embed = nn.Embedding(vocabulary, wide)
                self.lstm = nn.LSTM(wide, hidden, layers, batch_first=True)
                self.head = nn.Linear(hidden, vocabulary)

            def forward(self, x):
                return self.head(self.lstm(self.embed(x))[0])

        return Language()
    draw = classes((length,), vocabulary)
    return Workload(batch, module, draw, draw, steps)


def experts(tokens, width, inner, count, chosen, steps, classified=10):
    """A layer of experts as in Mixtral, and a head. PyTorch computes it by
    grouped_mm, which is faster than its loop over experts."""
    def module():
        import torch
        import transformers
        from transformers.models.mixtral import modeling_mixtral as mixtral

        class Layer(torch.nn.Module):
            _can_set_experts_implementation = True.__bool__  # by export.py

            def __init__(self):
                super().__init__()
                self.config = transformers.MixtralConfig(
                    hidden_size=width, intermediate_size=inner, use_cache=False,
                    num_local_experts=count, num_experts_per_tok=chosen)
                self.set_experts_implementation("grouped_mm")
                self.experts = mixtral.MixtralSparseMoeBlock(self.config)
                self.head = torch.nn.Linear(width, classified)
                for parameter in self.experts.parameters():
                    torch.nn.init.normal_(parameter, std=0.02)

            def get_experts_implementation(self):
                return self.config._experts_implementation

            def set_experts_implementation(self, name):
                self.config._experts_implementation = name

            def forward(self, x):
                return self.head(self.experts(x.unsqueeze(1)).squeeze(1))

        return Layer()
    return Workload(tokens, module, pixels(width), classes((), classified),
                    steps)


WORKLOADS = {
    "MLP 784-512-512-10, batch 64": mlp(64, (784, 512, 512, 10), 400),
    "MLP 784-2048-2048-2048-10, batch 256":
        mlp(256, (784, 2048, 2048, 2048, 10), 24),
    "ResNet-18, 32 x 32, batch 32":
        convolutional(32, 32, 10, resnet18_cifar, 10),
    "ResNet-50, 224 x 224, batch 8":
        convolutional(8, 224, 6, lambda models: models.resnet50()),
    "MobileNet-V2, 128 x 128, batch 16":
        convolutional(16, 128, 12,
                      lambda models: models.mobilenet_v2(dropout=0)),
    "GPT-2 of 4 layers, 128 wide, 32 x 128":
        gpt2(32, 128, 20, 256, n_embd=128, n_layer=4, n_head=4),
    "GPT-2 124M, 4 x 64": gpt2(4, 64, 6),
    "GPT-2 124M, 4 x 256": gpt2(4, 256, 5),
    "BERT base, 8 x 128": bert(8, 128, 5),
    "LSTM of 2 layers, 512 wide, 16 x 64":
        lstm(16, 64, 10000, 256, 512, 2, 10),
    "8 experts, 2 of a token, 512 wide, 4096 tokens":
        experts(4096, 512, 1024, 8, 2, 5),
}
