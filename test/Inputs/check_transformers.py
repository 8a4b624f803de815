"""A GPT, a Llama and a BERT of transformers, there and back.

usage: check_transformers.py DTC [MODEL...]          gpt, llama, bert; all

Each is exported by tools/export.py, trained by dtc with --dp 2 --tp 2 in f64,
and saved; transformers loads the file with strict=True and computes the loss
that dtc's evaluation printed, within 1e-8. A second program that starts from
the saved file (--init) prints that loss, too. Needs the packages of
bench/requirements.txt.
"""

import json
import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import torch
import transformers
from safetensors.torch import load_file
from torch.nn import functional as F

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
from export import export  # noqa: E402

VOCABULARY, LENGTH, BATCH = 96, 16, 8
TOLERANCE = 1e-8


def gpt():
    return transformers.GPT2LMHeadModel(transformers.GPT2Config(
        vocab_size=VOCABULARY, n_positions=LENGTH, n_embd=32, n_layer=2,
        n_head=2, resid_pdrop=0, embd_pdrop=0, attn_pdrop=0,
        bos_token_id=None, eos_token_id=None))


def llama():
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(
        vocab_size=VOCABULARY, hidden_size=32, intermediate_size=48,
        num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
        max_position_embeddings=LENGTH))


def bert():
    return transformers.BertForMaskedLM(transformers.BertConfig(
        vocab_size=VOCABULARY, hidden_size=32, intermediate_size=48,
        num_hidden_layers=2, num_attention_heads=4,
        max_position_embeddings=LENGTH, hidden_dropout_prob=0,
        attention_probs_dropout_prob=0))


def write_data(folder):
    """Ids without 0, which is BERT's padding."""
    (folder / "valid").mkdir(parents=True)
    random = np.random.default_rng(5)
    for part in (folder, folder / "valid"):
        for name in ("input_ids", "labels"):
            np.save(part / f"{name}.npy", random.integers(
                1, VOCABULARY, (4 * BATCH, LENGTH)))


def run(*command):
    process = subprocess.run([str(word) for word in command],
                             capture_output=True, text=True)
    if process.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}\n{process.stderr}")
    return process.stderr


def evaluate(model, folder):
    ids, labels = (torch.from_numpy(np.load(folder / f"valid/{name}.npy"))
                   for name in ("input_ids", "labels"))
    with torch.no_grad():
        logits = model.eval()(input_ids=ids).logits
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten()).item()


def last_evaluation(path):
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return [line["eval_loss"] for line in lines if "eval_loss" in line][-1]


def check(dtc, name, folder):
    torch.manual_seed(3)
    model = globals()[name]()
    model.config.use_cache = False
    before = evaluate(model.double(), folder / "data")
    model.float()
    file = folder / f"{name}.onnx"
    ids = torch.ones(2, LENGTH, dtype=torch.long)
    export(model, {"input_ids": ids}, file)
    program, weights = folder / name, folder / f"{name}.safetensors"
    metrics = folder / f"{name}.jsonl"
    options = ["--batch", BATCH, "--dtype", "f64", "--optimizer", "adamw"]
    log = run(dtc, file, *options, "--dp", 2, "--tp", 2, "-o", program)
    print(log, end="")
    run(program, "--nproc", 4, "--data", folder / "data", "--steps", 5, "--lr",
        0.01, "--eval-every", 5, "--metrics", metrics, "--save-weights",
        weights)
    trained = last_evaluation(metrics)

    other = globals()[name]().double()
    other.load_state_dict(load_file(weights), strict=True)
    loaded = evaluate(other, folder / "data")

    run(dtc, file, *options, "--init", weights, "-o", program)
    run(program, "--data", folder / "data", "--steps", 1, "--lr", 0,
        "--eval-every", 1, "--metrics", metrics)
    again = last_evaluation(metrics)
    print(f"{name}: loss {before:.6f} before, {trained:.10f} by dtc, "
          f"{loaded:.10f} by transformers, {again:.10f} from the saved file")
    return max(abs(loaded - trained), abs(again - trained)) <= TOLERANCE


def main():
    warnings.simplefilter("ignore")
    os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1",
                      OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMP_NUM_THREADS="1")
    torch.set_num_threads(1)
    dtc = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        write_data(folder / "data")
        wrong = [name for name in sys.argv[2:] or ["gpt", "llama", "bert"]
                 if not check(dtc, name, folder)]
    if wrong:
        raise SystemExit(f"wrong: {', '.join(wrong)}")


if __name__ == "__main__":
    main()
