"""Writes experts/: mixtures of experts, with data and PyTorch references as
make_inputs.py writes them.

usage: make_experts.py [MODEL...]

Most are models of transformers, exported by tools/export.py. The references run
them with the loop over experts that transformers uses by default, in the
arithmetic of the file (test/Models/reference.py). Needs the packages of
bench/requirements.txt.
"""

import argparse
import copy
import importlib.util
import sys
from pathlib import Path

import numpy as np
import torch
import transformers
from torch import nn
from torch.nn import functional as F

from make_exports import shrink
from make_inputs import write_data
from models import Model
from reference import write_reference

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "test/Models")]
import export as training  # noqa: E402

spec = importlib.util.spec_from_file_location(
    "file_reference", ROOT / "test/Models/reference.py")
file_reference = importlib.util.module_from_spec(spec)
spec.loader.exec_module(file_reference)

ROWS, LENGTH, VOCABULARY, WIDTH, EXPERTS = 64, 8, 32, 16, 8

COMMON = dict(vocab_size=VOCABULARY, hidden_size=WIDTH, num_hidden_layers=1,
              num_attention_heads=2, num_key_value_heads=1,
              max_position_embeddings=16, attn_implementation="eager",
              experts_implementation="eager", pad_token_id=None,
              bos_token_id=None, eos_token_id=None)
DEEPSEEK = COMMON | dict(
    num_key_value_heads=2, moe_intermediate_size=12, intermediate_size=12,
    n_routed_experts=EXPERTS, num_experts_per_tok=2, n_group=4, topk_group=2,
    n_shared_experts=1, first_k_dense_replace=0, q_lora_rank=8, kv_lora_rank=8,
    qk_rope_head_dim=4, qk_nope_head_dim=4, v_head_dim=8)


class Logits(nn.Module):
    """A language model of transformers as a function from ids to logits."""

    def __init__(self, model):
        super().__init__()
        self.model = model
        for name, parameter in model.named_parameters():
            if parameter.dim() > 1:  # routers that are not indifferent
                nn.init.normal_(parameter, std=0.3)
            elif name.endswith("bias"):
                nn.init.normal_(parameter, std=0.1)
        for name, buffer in model.named_buffers():
            if name.endswith("e_score_correction_bias"):
                nn.init.normal_(buffer, std=0.1)

    def forward(self, ids):
        if next(self.parameters()).dtype != torch.float64:
            return self.model(input_ids=ids, use_cache=False).logits
        before = torch.get_default_dtype()
        torch.set_default_dtype(torch.float64)
        try:
            with file_reference.file_functions(), \
                    file_reference.FileArithmetic(has_tables=False):
                return self.model(input_ids=ids, use_cache=False).logits
        finally:
            torch.set_default_dtype(before)


class Balanced(Logits):
    """Moves the biases of a router after each forward pass that is trained (Wang et
    al., arXiv 2408.15664, algorithm 1)."""

    update = None

    def forward(self, ids):
        gate = self.model.model.layers[0].mlp.gate
        chosen = []
        hook = gate.register_forward_hook(
            lambda module, inputs, outputs: chosen.append(outputs[2]))
        logits = super().forward(ids)
        hook.remove()
        if self.update and torch.is_grad_enabled():
            with torch.no_grad():
                counts = torch.bincount(chosen[0].flatten(), minlength=EXPERTS)
                gate.e_score_correction_bias += self.update * (
                    counts.double().mean() - counts).sign()
        return logits


class Layer(nn.Module):
    """Embeddings, a mixture of experts and a head."""

    def __init__(self, mixture):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.mixture = mixture
        self.head = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, ids):
        x = self.embed(ids)
        return self.head(x + self.mixture(x))


def stack(*shape):
    return nn.Parameter(torch.randn(EXPERTS, *shape) * 0.3)


class Switch(nn.Module):
    """One expert for each token, and room for three tokens of a sequence in each
    expert: those that find none are left out (Fedus et al., arXiv 2101.03961)."""

    capacity = 3

    def __init__(self):
        super().__init__()
        self.router = nn.Linear(WIDTH, EXPERTS)
        self.inner, self.outer = stack(WIDTH, 12), stack(12, WIDTH)

    def forward(self, x):
        scores = self.router(x).softmax(-1)
        best, expert = scores.max(-1)
        chosen = F.one_hot(expert, EXPERTS).to(x.dtype)  # [batch, token, expert]
        place = chosen.cumsum(1) * chosen - 1
        slot = F.one_hot(place.clamp(0, self.capacity).long(),
                         self.capacity + 1)[..., :self.capacity]
        dispatch = slot * (place >= 0).unsqueeze(-1) * chosen.unsqueeze(-1)
        y = torch.einsum("btec,btw->ebcw", dispatch, x)
        y = torch.einsum("ebcw,ewi->ebci", y, self.inner).relu()
        y = torch.einsum("ebci,eiw->ebcw", y, self.outer)
        return torch.einsum("btec,ebcw->btw", dispatch, y) * best.unsqueeze(-1)


class Capacity(nn.Module):
    """Two experts for each token. If `groups` is set, samples are so many groups,
    and an expert has room for the mean of its rows of a group: further rows are
    left out."""

    groups = None

    def __init__(self):
        super().__init__()
        self.router = nn.Linear(WIDTH, EXPERTS)
        self.inner, self.outer = stack(WIDTH, 12), stack(12, WIDTH)

    def forward(self, x):
        weights, chosen = self.router(x).softmax(-1).topk(2)
        y = (x[:, :, None, None] @ self.inner[chosen]).relu()
        y = (y @ self.outer[chosen]).squeeze(-2) * weights.unsqueeze(-1)
        if self.groups:
            rows = chosen.reshape(self.groups, -1)
            one = F.one_hot(rows, EXPERTS)
            place = (one.cumsum(1) * one).sum(-1) - 1
            y = y * (place < -(-rows.shape[1] // EXPERTS)).view(*chosen.shape, 1)
        return y.sum(2)


class Loop(nn.Module):
    """Two experts for each token, in a loop over all experts."""

    def __init__(self):
        super().__init__()
        self.router = nn.Linear(WIDTH, EXPERTS, bias=False)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(WIDTH, 12), nn.GELU(), nn.Linear(12, WIDTH))
            for _ in range(EXPERTS))

    def forward(self, x):
        weights, chosen = self.router(x).softmax(-1).topk(2)
        y = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            weight = torch.where(chosen == i, weights, 0).sum(-1, keepdim=True)
            y = y + weight * expert(x)
        return y


class Chosen(nn.Module):
    """Experts of several rows each: a sequence has one matrix, on the left of its
    product, and each token has one on the right."""

    def __init__(self):
        super().__init__()
        self.router = nn.Linear(WIDTH, EXPERTS)
        self.left, self.right = stack(WIDTH, WIDTH), stack(WIDTH, WIDTH)

    def forward(self, x):
        scores = self.router(x)
        sequence = self.left[scores.mean(1).argmax(-1)]  # [batch, width, width]
        y = (sequence @ x.transpose(1, 2)).transpose(1, 2)
        token = self.right[scores.argmax(-1)]
        y = y + (x.unsqueeze(2) @ token).squeeze(2)
        return y * scores.logsumexp(-1, keepdim=True).tanh()


def of(kind, config, wrapper=Logits):
    return lambda: wrapper(getattr(transformers, f"{kind}ForCausalLM")(
        getattr(transformers, f"{kind}Config")(**config)))


MODELS = {
    "mixtral": of("Mixtral", COMMON | dict(
        intermediate_size=12, num_local_experts=EXPERTS, num_experts_per_tok=2)),
    "qwen3-moe": of("Qwen3Moe", COMMON | dict(
        intermediate_size=12, moe_intermediate_size=12, num_experts=EXPERTS,
        num_experts_per_tok=3, norm_topk_prob=True, head_dim=8)),
    "olmoe": of("Olmoe", COMMON | dict(
        intermediate_size=12, num_experts=EXPERTS, num_experts_per_tok=2)),
    "deepseek-v3": of("DeepseekV3", DEEPSEEK),
    "balanced": of("DeepseekV3", DEEPSEEK, Balanced),
    "gpt-oss": of("GptOss", COMMON | dict(
        intermediate_size=12, num_local_experts=EXPERTS, num_experts_per_tok=2,
        head_dim=8, sliding_window=4)),
    "switch": lambda: Layer(Switch()),
    "capacity": lambda: Layer(Capacity()),
    "loop": lambda: Layer(Loop()),
    "chosen": lambda: Layer(Chosen()),
}


def make(name):
    torch.manual_seed(7)
    module = MODELS[name]()
    random = np.random.default_rng(7)
    inputs = random.integers(0, VOCABULARY, (ROWS, LENGTH)).astype(np.uint8)
    labels = random.integers(0, VOCABULARY, (ROWS, LENGTH)).astype(np.uint8)
    return Model(name, module, "ids", "logits", inputs, labels, "cross-entropy",
                 0.1)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("models", nargs="*", metavar="MODEL")
    folder = Path(__file__).parent / "experts"
    folder.mkdir(exist_ok=True)
    torch.set_num_threads(1)
    for name in parser.parse_args().models or MODELS:
        model = make(name)
        path = folder / f"{name}.onnx"
        training.export(copy.deepcopy(model.module),
                        dict(ids=model.batch(0, 2, torch.float32)[0]), path)
        shrink(path)
        if name == "capacity":
            model.module.mixture.groups = 2  # --ep 2
        if name == "balanced":
            model.module.update = 0.05  # --expert-bias-update
        write_data(model, folder / f"{name}.data")
        write_reference(model, folder, lambda name, tensor: True)


if __name__ == "__main__":
    main()
