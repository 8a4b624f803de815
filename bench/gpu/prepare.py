"""Compiles the programs of run.sh into a folder; prepare.sh packs it.

usage: prepare.py FOLDER [--arch sm_90] [--models NAME,...]

Needs the requirements of tools/export.py, transformers, and dtc on PATH. Programs
have no weights: run.sh writes the weights of PyTorch's seed beside them.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
from safetensors import safe_open

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent.parent / "tools")]

import models  # noqa: E402
from export import export  # noqa: E402

SGD_RATE = {"gpt2-tiny": 0.1, "gpt2-124m": 0.05, "llama-small": 0.05,
            "bert-base": 0.05, "resnet-50": 0.05}
# The plans of gpt2-tiny.
PLANS = ["--dp 2", "--tp 2", "--pp 2 --microbatches 4", "--dp 2 --zero 3",
         "--dp 2 --zero 3 --offload parameters"]


def list_programs():
    """Lists the programs that run.sh compares and times, the most important first."""
    for model in models.MODELS:
        for precision in ("fp32", "bf16"):
            yield dict(use="parity", model=model, precision=precision,
                       plan="", ranks=1, lr=SGD_RATE[model])
    for plan in PLANS:
        yield dict(use="ranks", model="gpt2-tiny", precision="fp32",
                   plan=plan, ranks=2, lr=SGD_RATE["gpt2-tiny"])
    for model in ("gpt2-124m", "bert-base", "resnet-50", "llama-small",
                  "gpt2-tiny"):
        yield dict(use="speed", model=model, precision="bf16", plan="",
                   ranks=1)


def export_model(name, path):
    module = models.build(name)
    inputs, _ = models.make_data(name, steps=1)
    export(module, {key: torch.from_numpy(array[:2]) if
                    array.dtype.kind == "f" else
                    torch.from_numpy(array[:2]).long()
                    for key, array in inputs.items()}, path)
    return set(module.state_dict()) | {key for key, _ in
                                       module.named_buffers()}


def compile_program(entry, onnx, folder, arch, tensors):
    """Compiles a program. Returns whether dtc accepts it, and prints a refusal."""
    plan = entry["plan"]
    entry["name"] = "-".join(filter(None, [
        entry["use"], entry["model"], entry["precision"],
        plan.replace("--", "").replace(" ", "")]))
    program = folder / entry["name"]
    report = program.with_suffix(".json")
    command = ["dtc", onnx, "--batch", models.MODELS[entry["model"]].rows,
               "--loss", "cross-entropy", "--precision", entry["precision"],
               "--optimizer", "adamw" if entry["use"] == "speed" else "sgd",
               "--target", "cuda", "--arch", arch, "--target-cpu",
               "x86-64-v3", "--device", "h100", "--weights", "external",
               "--report-json", report, "-o", program, *plan.split()]
    result = subprocess.run(list(map(str, command)), capture_output=True,
                            text=True, check=False)
    if result.returncode:
        lines = [line for line in result.stderr.splitlines() if
                 "error" in line] or ["no message"]
        print(f"skipped {entry['name']}: {lines[0]}")
        return False
    figures = json.loads(report.read_text())
    entry["model_flops"] = figures["model_flops"]
    work = figures["stages"][0]["device"]
    entry["bytes"] = sum(work[f"{kind}_bytes"] for kind in
                         ("kernel", "library", "copy"))
    report.unlink()
    weights = folder / f"{entry['name']}.safetensors"
    with safe_open(weights, "numpy") as file:
        unknown = set(file.keys()) - tensors
    if unknown:
        sys.exit(f"{entry['name']} starts from {sorted(unknown)[:4]}, which "
                 "PyTorch's model does not have")
    weights.unlink()
    print(f"compiled {entry['name']}", flush=True)
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--models", default=",".join(models.MODELS))
    args = parser.parse_args()
    args.folder.mkdir(parents=True)
    wanted, compiled = args.models.split(","), []
    with tempfile.TemporaryDirectory() as name:
        tensors = {}
        for model in wanted:
            tensors[model] = export_model(model, Path(name) / f"{model}.onnx")
        for entry in list_programs():
            model = entry["model"]
            if model in wanted and compile_program(
                    entry, Path(name) / f"{model}.onnx", args.folder,
                    args.arch, tensors[model]):
                compiled.append(entry)
    (args.folder / "programs.json").write_text(json.dumps(compiled, indent=1))


if __name__ == "__main__":
    main()
