#!/usr/bin/env python3
"""Plans a training of Mixtral 8x7B on 64 ranks.

usage: mixtral.py [OPTION...]

Exports the model of transformers without its weights, 4096 tokens a sample, and
prints for each plan the seconds that dtc needs, the memory of a rank, and the FLOPs
of a step beside those of the formula: two for each weight that a token uses and
each score, three times. OPTIONs of dtc replace the plans. Needs dtc on PATH and the
packages in requirements.txt.
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PLANS = ["--dp 64 --ep 8 --zero 3 --recompute all --batch 64",
         "--dp 16 --pp 4 --ep 8 --zero 1 --microbatches 8 --recompute all "
         "--batch 128",
         "--dp 8 --pp 2 --tp 4 --sp --ep 8 --zero 1 --microbatches 4 "
         "--recompute all --batch 64"]
TOKENS = 4096


def export(folder):
    """Writes the model with external data that are a hole in a file."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))
    import onnx_ir
    import torch
    import transformers
    from export import set_up_hugging_face
    config = transformers.MixtralConfig()
    with torch.device("meta"):
        model = transformers.MixtralForCausalLM(config).train()
    for module in model.modules():  # one number stands for each weight
        for name, weight in list(module.named_parameters(recurse=False)):
            setattr(module, name, torch.nn.Parameter(
                torch.zeros(1).expand(weight.shape)))
    model.model.rotary_emb = type(model.model.rotary_emb)(config)
    ids = torch.zeros(2, TOKENS, dtype=torch.long)
    with set_up_hugging_face(model):
        program = torch.onnx.export(
            model, (), kwargs=dict(input_ids=ids), dynamo=True, optimize=False,
            verbose=False,
            dynamic_shapes=dict(input_ids={0: torch.export.Dim.AUTO}))
    largest = 0
    for name, value in program.model.graph.initializers.items():
        tensor = value.const_value
        if name.endswith("weight") or name.endswith("_proj"):
            bytes = tensor.size * 4
            largest = max(largest, bytes)
            value.const_value = onnx_ir.ExternalTensor(
                location="weights", offset=0, length=bytes, dtype=tensor.dtype,
                shape=tensor.shape, name=name, base_dir=folder)
    with open(folder / "weights", "wb") as file:
        file.truncate(largest)
    onnx_ir.save(program.model, folder / "mixtral.onnx")
    return config


def count_flops(config, samples):
    width, inner = config.hidden_size, config.intermediate_size
    head = width // config.num_attention_heads
    keys = head * config.num_key_value_heads
    layer = (2 * width * (width + keys) + config.num_local_experts * width +
             config.num_experts_per_tok * 3 * width * inner)
    weights = config.num_hidden_layers * layer + width * config.vocab_size
    scores = config.num_hidden_layers * 2 * TOKENS * width
    return 3 * 2 * (weights + scores) * TOKENS * samples


def main():
    plans = [" ".join(sys.argv[1:])] if len(sys.argv) > 1 else PLANS
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        config = export(folder)
        for plan in plans:
            start = time.time()
            subprocess.run(
                ["dtc", folder / "mixtral.onnx", "--loss", "cross-entropy",
                 "--precision", "bf16", "--device-memory", "80GiB",
                 "--report-json", folder / "report.json",
                 "--stop-after=schedule", "-o", "/dev/null", *plan.split()],
                check=True, stderr=subprocess.DEVNULL)
            seconds = time.time() - start
            report = json.loads((folder / "report.json").read_text())
            peak = max(stage["bytes"]["peak"] for stage in report["stages"])
            words = plan.split()
            samples = int(words[words.index("--batch") + 1])
            ratio = report["model_flops"] / count_flops(config, samples)
            print(f"{plan}\n  planned in {seconds:.1f} s, {peak / 2**30:.1f} "
                  f"GiB a rank, {ratio:.4f} of the formula's FLOPs", flush=True)


if __name__ == "__main__":
    main()
