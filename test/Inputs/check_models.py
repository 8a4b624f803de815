"""Compares the models that dtc-model writes, and their training, with PyTorch.

usage: check_models.py DTC-MODEL DTC

For each model:
  - the file is valid (onnx.checker);
  - its weights start as transformers' and torchvision's own do;
  - ONNX Runtime computes the logits of transformers' GPT2LMHeadModel,
    LlamaForCausalLM or BertForMaskedLM, of torch's Linear layers, or of
    resnet.py in training mode, loaded with the same weights under the names in
    the file;
  - the program that dtc compiles in f64 has PyTorch's gradients.
For the last two the weights are replaced by larger ones, so that none is
without influence. Prints the largest difference of logits, as a part of the
largest logit, and of gradients, as a part of the norm of the tensor. Needs the
packages of bench/requirements.txt.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch
from onnx import numpy_helper
from safetensors.numpy import load_file
from torch import nn
from transformers import (BertConfig, BertForMaskedLM, GPT2Config,
                          GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM)

from reference import statistics_of
from resnet import ResNet

TOLERANCE = 1e-5
BATCH = 3
IGNORED = -100


def gpt(layers, width, heads, vocab, context, hidden=None):
    return GPT2LMHeadModel(GPT2Config(
        vocab_size=vocab, n_positions=context, n_embd=width, n_layer=layers,
        n_head=heads, n_inner=hidden, bos_token_id=0, eos_token_id=0))


def llama(layers, width, heads, kv_heads, vocab, context, hidden):
    return LlamaForCausalLM(LlamaConfig(
        vocab_size=vocab, max_position_embeddings=context, hidden_size=width,
        intermediate_size=hidden, num_hidden_layers=layers,
        num_attention_heads=heads, num_key_value_heads=kv_heads,
        head_dim=width // heads, rms_norm_eps=1e-5, bos_token_id=0,
        eos_token_id=0, tie_word_embeddings=False))


def bert(layers, width, heads, vocab, context, hidden=None, segments=2):
    # No token is padding, whose row transformers would not train.
    return BertForMaskedLM(BertConfig(
        vocab_size=vocab, max_position_embeddings=context, hidden_size=width,
        intermediate_size=hidden or 4 * width, num_hidden_layers=layers,
        num_attention_heads=heads, type_vocab_size=segments,
        pad_token_id=None))


class Mlp(nn.Module):
    def __init__(self, layers, width, inputs, classes, activation):
        super().__init__()
        sizes = [inputs, *[width] * (layers - 1), classes]
        self.layers = nn.ModuleList(
            nn.Linear(*pair) for pair in zip(sizes, sizes[1:]))
        self.activation = {"relu": nn.ReLU(), "tanh": nn.Tanh(),
                           "gelu": nn.GELU("tanh")}[activation]

    def forward(self, x):
        for layer in self.layers[:-1]:
            x = self.activation(layer(x))
        return self.layers[-1](x)


def resnet(layers, width, image, channels, classes):
    stages = {18: [2, 2, 2, 2], 34: [3, 4, 6, 3], 50: [3, 4, 6, 3]}[layers]
    is_small = image <= 64
    module = ResNet(stages, is_bottleneck=layers >= 50, width=width,
                    channels=channels, classes=classes,
                    stem=(3, 1) if is_small else (7, 2),
                    pool=None if is_small else 2)
    for child in module.modules():
        if isinstance(child, nn.Conv2d):
            nn.init.kaiming_normal_(child.weight, mode="fan_out",
                                    nonlinearity="relu")
    return module


def read_weights(model):
    """Copies of the initializers that are parameters or running statistics, by
    name."""
    return {tensor.name: numpy_helper.to_array(tensor).copy()
            for tensor in model.graph.initializer
            if tensor.data_type == onnx.TensorProto.FLOAT and tensor.dims}


def fuse(weights):
    """GPT-2's c_attn from three projections, if there are three."""
    fused = {}
    for name, weight in weights.items():
        if ".c_q." in name:
            fused[name.replace("c_q", "c_attn")] = np.concatenate(
                [weight, weights[name.replace("c_q", "c_k")],
                 weights[name.replace("c_q", "c_v")]], -1)
        elif ".c_k." not in name and ".c_v." not in name:
            fused[name] = weight
    return fused


def check_starts(weights, module):
    """Same names, shapes and, where not by chance, spread as the module's."""
    for name, parameter in [*module.named_parameters(),
                            *statistics_of(module).items()]:
        weight = weights.pop(name)
        assert parameter.shape == weight.shape, (name, weight.shape)
        mean, deviation = parameter.mean().item(), parameter.std().item()
        if isinstance(module, Mlp):  # torch's own start is not Kaiming's normal
            mean, deviation = 0, 0
            if weight.ndim == 2:
                deviation = np.sqrt(2 / weight.shape[1])
        allowed = 8 * deviation / np.sqrt(weight.size)
        assert abs(weight.mean() - mean) <= allowed, (name, weight.mean())
        assert abs(weight.std() - deviation) <= allowed, (name, weight.std())
    assert not weights, f"not in PyTorch's model: {list(weights)}"


def enlarge(model):
    """Random weights of a size that all parts of the model notice."""
    random = np.random.default_rng(0)
    for tensor in model.graph.initializer:
        if tensor.data_type == onnx.TensorProto.FLOAT and tensor.dims:
            old = numpy_helper.to_array(tensor)
            new = old.mean() + random.normal(0, 0.2, old.shape)
            tensor.CopyFrom(
                numpy_helper.from_array(new.astype(np.float32), tensor.name))


def compare_logits(model, module):
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"])
    sample, _ = make_sample(model)
    logits, = session.run(["logits"], sample)
    with torch.no_grad():
        expected = forward(module, sample).numpy()
    assert logits.shape == expected.shape, (logits.shape, expected.shape)
    return np.abs(logits - expected).max() / np.abs(expected).max()


def make_sample(model):
    """Inputs by name, and labels, of one batch; masked models ignore most."""
    random = np.random.default_rng(0)
    sample, (*_, classes) = (
        [dim.dim_value for dim in value.type.tensor_type.shape.dim[1:]]
        for value in (model.graph.input[0], model.graph.output[0]))
    shape = (BATCH, *sample)
    name = model.graph.input[0].name
    if name != "input_ids":
        return ({name: random.standard_normal(shape, np.float32)},
                random.integers(classes, size=BATCH))
    tokens, labels = random.integers(classes, size=(2, *shape))
    inputs = {name: tokens}
    if len(model.graph.input) > 1:
        inputs["token_type_ids"] = random.integers(2, size=shape)
        labels[random.random(labels.shape) < 0.85] = IGNORED
    return inputs, labels


def forward(module, sample):
    tensors = {name: torch.tensor(value) for name, value in sample.items()}
    if isinstance(module, (Mlp, ResNet)):
        return module(*tensors.values())
    return module(**tensors).logits


def compare_gradients(model, module, dtc, folder):
    """Compares gradients of the mean cross-entropy, up to constants rounded to f32."""
    inputs, labels = make_sample(model)
    for name, value in inputs.items():
        np.save(folder / f"{name}.npy", value)
    np.save(folder / "labels.npy", labels)
    onnx.save(model, folder / "large.onnx")
    program = folder / "large.train"
    for command in (
            [dtc, folder / "large.onnx", "--batch", str(BATCH), "--dtype",
             "f64", "--optimizer", "sgd", f"--ignore-index={IGNORED}", "-o",
             program],
            [program, "--data", folder, "--steps", "1", "--no-shuffle",
             "--dump-gradients", folder]):
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    found = fuse(load_file(folder / "step-1.safetensors"))
    module.double().zero_grad()
    inputs = {name: value.astype(np.float64)
              if value.dtype == np.float32 else value
              for name, value in inputs.items()}
    logits = forward(module, inputs)
    nn.functional.cross_entropy(logits.flatten(0, -2),
                                torch.tensor(labels).flatten(),
                                ignore_index=IGNORED).backward()
    # The gradient of a key's bias is zero, since a softmax ignores it.
    total = np.sqrt(sum(parameter.grad.square().sum().item()
                        for parameter in module.parameters()))
    worst = 0
    for name, parameter in module.named_parameters():
        expected, gradient = parameter.grad.numpy(), found.pop(name)
        worst = max(worst, np.linalg.norm(gradient - expected) /
                    max(np.linalg.norm(expected), 1e-10 * total))
    assert not found, f"not in PyTorch's model: {list(found)}"
    return worst


def check(tools, make, arguments=(), logits_tolerance=TOLERANCE, **sizes):
    dtc_model, dtc = tools
    command = [dtc_model, make.__name__.lower(), "--weights", "normal",
               *arguments]
    for name, size in sizes.items():
        command += [f"--{name.replace('_', '-')}", str(size)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run([*command, "-o", folder / "model.onnx"], check=True,
                       stdout=subprocess.DEVNULL)
        onnx.checker.check_model(str(folder / "model.onnx"), full_check=True)
        model = onnx.load(folder / "model.onnx")
        module = make(**sizes)
        module.train(isinstance(module, ResNet))
        check_starts(fuse(read_weights(model)), module)
        enlarge(model)
        weights = fuse(read_weights(model))
        keys = module.load_state_dict(
            {name: torch.tensor(value) for name, value in weights.items()},
            strict=False)
        missing = {key for key in keys.missing_keys
                   if not key.endswith(".num_batches_tracked")}
        assert missing <= {  # tied
            "lm_head.weight", "cls.predictions.decoder.weight",
            "cls.predictions.decoder.bias"}, keys
        assert not keys.unexpected_keys, keys
        logits = compare_logits(model, module)
        gradients = compare_gradients(model, module, dtc, folder)
    good = logits <= logits_tolerance and gradients <= TOLERANCE
    print(f"{'ok' if good else 'WRONG':5} logits {logits:.1e}, "
          f"gradients {gradients:.1e}: {' '.join(command[1:])}", flush=True)
    return good


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    tools = sys.argv[1:]
    torch.manual_seed(0)
    gpt_sizes = dict(layers=3, width=96, heads=4, vocab=500, context=24)
    llama_sizes = dict(gpt_sizes, hidden=160)
    good = [
        check(tools, gpt, **gpt_sizes),
        check(tools, gpt, ["--qkv", "separate", "--external-data"],
              **gpt_sizes),
        check(tools, gpt, **gpt_sizes, hidden=100),
        *(check(tools, llama, **llama_sizes, kv_heads=kv_heads)
          for kv_heads in (1, 2, 4)),
        check(tools, bert, **gpt_sizes),
        check(tools, bert, **gpt_sizes, hidden=100, segments=3),
        *(check(tools, Mlp, layers=3, width=48, inputs=20, classes=10,
                activation=activation)
          for activation in ("relu", "gelu", "tanh")),
        # PyTorch's own logits of the last are 2e-5 away from those in f64.
        *(check(tools, resnet, logits_tolerance=tolerance, layers=layers,
                width=8, image=image, channels=2, classes=10)
          for layers, image, tolerance in (
              (18, 32, TOLERANCE), (34, 72, TOLERANCE), (50, 72, 1e-4))),
    ]
    sys.exit(not all(good))


if __name__ == "__main__":
    main()
