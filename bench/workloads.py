"""The models that compare.py trains: PyTorch modules that give logits, and
their data. Dropout is off: peers draw other masks, and none of it is learnt."""

from dataclasses import dataclass
from typing import Callable


@dataclass
class Workload:
    batch: int
    module: Callable  # () -> torch.nn.Module
    inputs: Callable  # (samples) -> dict of tensors, by argument of forward
    labels: Callable  # (samples) -> tensor of classes
    steps: int        # of a round, some seconds
    widths: tuple = ()  # of an MLP, which JAX trains, too


def classes(shape, count):
    def make(samples):
        import torch
        return torch.randint(0, count, (samples, *shape))
    return make


def pixels(*shape):
    def make(samples):
        import torch
        return dict(x=torch.randn(samples, *shape))
    return make


def tokens(length, vocabulary):
    def make(samples):
        return dict(input_ids=classes((length,), vocabulary)(samples))
    return make


def mlp(batch, widths, steps):
    def module():
        from torch import nn
        layers = []
        for before, after in zip(widths, widths[1:]):
            layers += [nn.Linear(before, after), nn.ReLU()]
        return named(nn.Sequential(*layers[:-1]), "x")
    return Workload(batch, module, pixels(widths[0]),
                    classes((), widths[-1]), steps, widths)


def named(model, *arguments, result=lambda output: output):
    """The model with these arguments, which gives logits alone."""
    import torch

    class Logits(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

    # torch.export reads the names of arguments from the signature.
    names = ", ".join(arguments)
    calls = ", ".join(f"{name}={name}" for name in arguments)
    scope = dict(result=result)
    call = calls if arguments != ("x",) else "x"
    exec(f"def forward(self, {names}):\n"
         f"    return result(self.model({call}))\n", scope)
    Logits.forward = scope["forward"]
    return Logits()


def image_net(batch, shape, steps, make, classes_=1000):
    def module():
        import torchvision
        return named(make(torchvision.models), "x")
    return Workload(batch, module, pixels(*shape), classes((), classes_), steps)


def resnet18_cifar(models):
    from torch import nn
    net = models.resnet18(num_classes=10)
    net.conv1 = nn.Conv2d(3, 64, 3, padding=1, bias=False)
    net.maxpool = nn.Identity()
    return net


def gpt2(batch, length, steps):
    def module():
        from transformers import GPT2Config, GPT2LMHeadModel
        config = GPT2Config(n_positions=length, resid_pdrop=0, embd_pdrop=0,
                            attn_pdrop=0, use_cache=False)
        return named(GPT2LMHeadModel(config), "input_ids",
                     result=lambda output: output.logits)
    return Workload(batch, module, tokens(length, 50257),
                    classes((length,), 50257), steps)


def bert(batch, length, steps):
    def module():
        from transformers import BertConfig, BertForMaskedLM
        config = BertConfig(hidden_dropout_prob=0,
                            attention_probs_dropout_prob=0)
        return named(BertForMaskedLM(config), "input_ids",
                     result=lambda output: output.logits)
    return Workload(batch, module, tokens(length, 30522),
                    classes((length,), 30522), steps)


WORKLOADS = {
    "MLP 784-512-512-10, batch 64": mlp(64, (784, 512, 512, 10), 400),
    "MLP 784-2048-2048-2048-10, batch 256":
        mlp(256, (784, 2048, 2048, 2048, 10), 24),
    "ResNet-18, 32 x 32, batch 32":
        image_net(32, (3, 32, 32), 7, resnet18_cifar, 10),
    "ResNet-50, 224 x 224, batch 8":
        image_net(8, (3, 224, 224), 6, lambda models: models.resnet50()),
    "MobileNet-V2, 128 x 128, batch 16":
        image_net(16, (3, 128, 128), 12,
                  lambda models: models.mobilenet_v2(dropout=0)),
    "GPT-2 124M, 4 x 64": gpt2(4, 64, 6),
    "GPT-2 124M, 4 x 256": gpt2(4, 256, 5),
    "BERT base, 8 x 128": bert(8, 128, 5),
}
