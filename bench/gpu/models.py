"""The models that bench/gpu compares. A seed gives the same model on every machine,
with only PyTorch and transformers."""

from dataclasses import dataclass
from typing import Callable

import torch
from torch import nn


@dataclass
class Bench:
    """A model with the size of its step."""

    make: Callable[[], nn.Module]
    rows: int
    length: int = 0  # of sequences; 0: images of 224 x 224
    classes: int = 0


class LanguageModel(nn.Module):
    """Wraps a model of transformers as a function from ids to logits."""

    def __init__(self, model, use_cache=False):
        super().__init__()
        self.model = model
        self.options = {} if use_cache is None else {"use_cache": use_cache}

    def forward(self, input_ids):
        return self.model(input_ids=input_ids, **self.options).logits


class Classifier(nn.Module):
    """Wraps a classifier of transformers as a function from images to logits."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, pixel_values):
        return self.model(pixel_values=pixel_values).logits


def make_gpt2(**sizes):
    from transformers import GPT2Config, GPT2LMHeadModel
    return LanguageModel(GPT2LMHeadModel(GPT2Config(
        resid_pdrop=0, embd_pdrop=0, attn_pdrop=0, use_cache=False,
        bos_token_id=0, eos_token_id=0, attn_implementation="sdpa", **sizes)))


def make_llama():
    from transformers import LlamaConfig, LlamaForCausalLM
    return LanguageModel(LlamaForCausalLM(LlamaConfig(
        vocab_size=32000, hidden_size=768, intermediate_size=2048,
        num_hidden_layers=8, num_attention_heads=12, num_key_value_heads=4,
        max_position_embeddings=1024, use_cache=False, bos_token_id=0,
        eos_token_id=0, attn_implementation="sdpa")))


def make_bert():
    """BERT with the token types of one sentence, a constant of the model."""
    from transformers import BertConfig, BertForMaskedLM
    return LanguageModel(BertForMaskedLM(BertConfig(
        hidden_dropout_prob=0, attention_probs_dropout_prob=0,
        attn_implementation="sdpa")), use_cache=None)


def make_resnet():
    from transformers import ResNetConfig, ResNetForImageClassification
    return Classifier(ResNetForImageClassification(
        ResNetConfig(num_labels=1000)))


MODELS = {
    # With the usual initial range of 0.02 attention hardly affects the loss.
    "gpt2-tiny": Bench(lambda: make_gpt2(
        vocab_size=256, n_positions=128, n_embd=128, n_layer=4, n_head=4,
        initializer_range=0.1), rows=32, length=128, classes=256),
    "gpt2-124m": Bench(lambda: make_gpt2(), rows=16, length=1024,
                       classes=50257),
    "llama-small": Bench(make_llama, rows=8, length=1024, classes=32000),
    "bert-base": Bench(make_bert, rows=32, length=128, classes=30522),
    "resnet-50": Bench(make_resnet, rows=32, classes=1000),
}


def build(name):
    """Builds the model with the weights of its seed, in training mode."""
    torch.manual_seed(0)
    return MODELS[name].make().train()


def make_data(name, steps):
    """Returns inputs by name, and labels, for `steps` steps, as NumPy arrays. Token
    i is as frequent as 1 / (i + 1), by Zipf's law: as with texts, the gradient of
    an embedding table adds many rows to few rows of the table. Every other token
    follows from the one before, so the model can learn it."""
    import numpy as np
    bench = MODELS[name]
    random = np.random.default_rng(0)
    rows = bench.rows * steps
    if bench.length:
        frequencies = 1 / np.arange(1, bench.classes + 1)
        edges = np.cumsum(frequencies / frequencies.sum())
        ids = np.searchsorted(edges, random.random((rows, bench.length + 1)))
        # The neighbouring number is about as frequent.
        ids[:, 1::2] = (ids[:, :-1:2] ^ 1)[:, :ids[:, 1::2].shape[1]]
        ids = np.minimum(ids, bench.classes - 1).astype(np.int32)
        return {"input_ids": ids[:, :-1].copy()}, ids[:, 1:].copy()
    images = random.standard_normal((rows, 3, 224, 224), np.float32)
    labels = random.integers(0, bench.classes, rows).astype(np.int32)
    return {"pixel_values": images}, labels


def compute_loss(model, inputs, labels):
    """Returns the cross-entropy over all positions, in f32 as in dtc, or in f64."""
    logits = model(*inputs)
    logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
    return nn.functional.cross_entropy(logits.flatten(0, -2), labels.flatten())
