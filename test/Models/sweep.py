"""Trains exported models, and compares with PyTorch.

usage: sweep.py --dtc build/release/bin/dtc [--work DIR] [--only GLOB,...] [--redo]
                [--jobs N] [--results FILE.json] [--table docs/models.md]

PyTorch exports and trains each model of zoo/ once (export.py); later runs use the
files in --work. The script adds results to the file of --results. It runs a model with
a result again only with --redo. The table contains all results.
"""

import argparse
import ast
import concurrent.futures
import fnmatch
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from table import EXPORTERS, PLAIN_EXPORTERS, write_table

HERE = Path(__file__).parent
TOLERANCE = 1e-9
SGD = ["--optimizer", "sgd", "--lr", "0.05"]
ADAMW = ["--optimizer", "adamw", "--lr", "0.001"]
ENVIRONMENT = dict(os.environ, OMP_NUM_THREADS="1",
                   OMPI_ALLOW_RUN_AS_ROOT="1",
                   OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")


def model_names():
    """Returns FAMILY/NAME of each function in zoo/ without a leading underscore."""
    for path in sorted((HERE / "zoo").glob("*.py")):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef) and node.name[0] != "_":
                yield f"{path.stem}/{node.name}"


def run(command, timeout):
    """Returns exit status and output; a timeout is a failure."""
    try:
        done = subprocess.run(list(map(str, command)), timeout=timeout,
                              env=ENVIRONMENT, text=True, errors="replace",
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              start_new_session=True)
        return done.returncode, done.stdout
    except subprocess.TimeoutExpired:
        return -1, f"error: more than {timeout} s"


def complaint(status, output):
    """Returns the first error, without parts that differ between models."""
    if status < 0 and "error:" not in output:
        return f"crashes with signal {-status}"
    lines = [line for line in output.splitlines() if line.strip()]
    errors = [i for i, line in enumerate(lines) if "error:" in line]
    start = errors[0] if errors else max(len(lines) - 3, 0)
    return " | ".join(lines[start:start + 6])[:600]


class Judge:
    """Compiles and runs one ONNX file under several plans."""

    def __init__(self, args, file, reference, work):
        self.args, self.file, self.reference = args, file, reference
        self.program = Path(work) / "program"
        self.metrics = Path(work) / "metrics.jsonl"
        self.warnings = []

    def train(self, options, ranks):
        """Returns losses of the steps and norms of their gradients, or a text with
        the reason for their absence."""
        reference = self.reference
        command = [self.args.dtc, self.file, "--batch", 8,
                   "--loss", reference["loss"],
                   "--class-axis", reference["class_axis"],
                   *reference["options"], *options, "-o", self.program]
        if self.file.stem in reference["loss_of"]:
            command += ["--loss-of", reference["loss_of"][self.file.stem]]
        status, output = run(command, self.args.timeout)
        self.warnings = [line.split("warning: ")[1]
                         for line in output.splitlines() if "warning: " in line]
        if status != 0:
            return f"dtc: {complaint(status, output)}"
        self.metrics.unlink(missing_ok=True)
        status, output = run(
            [self.program, "--nproc", ranks, "--data",
             self.file.parent / "data", "--steps", 3, "--no-shuffle",
             "--metrics", self.metrics], self.args.timeout)
        self.program.unlink()
        if status != 0:
            return f"program: {complaint(status, output)}"
        rows = list(map(json.loads, self.metrics.read_text().splitlines()[1:]))
        return {key: [row[key] for row in rows]
                for key in ("loss", "grad_norm")}

    def compare(self, options, ranks=1, optimizer="sgd"):
        """Returns a check's result: the deviation, or the reason for its absence."""
        found = self.train(options, ranks)
        if isinstance(found, str):
            return dict(ok=False, why=found)
        worst = 0
        for key, values in self.reference[optimizer].items():
            if None in found[key] or len(found[key]) != len(values):
                return dict(ok=False, why=f"{key} is {found[key]}")
            worst = max(worst, *(abs(f - e) / max(1, abs(e))
                                 for f, e in zip(found[key], values)))
        return dict(ok=worst <= TOLERANCE, deviation=worst)


def checks_of(reference, dropout):
    """Returns name, options, ranks and optimizer of each check. Checks that compare
    losses turn dropout off, because its masks differ from PyTorch's."""
    plain = ["--dtype", "f64"]
    if dropout:
        plain += ["--dropout", "none"]
    # Batch norm equals PyTorch's if its statistics are those of the whole batch.
    parts = ["--microbatches", 1 if reference["batch_norm"] else 2]
    yield "sgd", [*SGD, *plain], 1, "sgd"
    yield "adamw", [*ADAMW, *plain], 1, "adamw"
    yield "dp2pp2", [*SGD, *plain, "--dp", 2, "--pp", 2, *parts], 4, "sgd"
    if reference["has_heads"]:
        yield "tp2", [*SGD, *plain, "--tp", 2, *parts], 2, "sgd"


def imported(args, file, work):
    """Returns dtc's import of a file, without the file's name; "" if it refuses."""
    path = Path(work) / "import.mlir"
    status, _ = run([args.dtc, file, "--batch", 8, "--emit=import", "-o", path],
                    args.timeout)
    return path.read_text().split("\n", 1)[1] if status == 0 else ""


def check_file(args, file, reference, has_dropout, others):
    """Returns the results of all checks of a file. It omits the checks after a
    refusal, or after a warning that proves right. If dtc imports the same as from
    another file, it reuses that file's results after the first check."""
    results = {}
    with tempfile.TemporaryDirectory(dir=args.work) as work:
        judge = Judge(args, file, reference, work)
        text = imported(args, file, work)
        same = others.get(text, {}) if text else {}
        others[text] = results
        for name, options, ranks, optimizer in checks_of(reference,
                                                         has_dropout):
            results[name] = (same[name] if name in same and name != "sgd" else
                             judge.compare(options, ranks, optimizer))
            if name == "sgd" and judge.warnings:
                results[name]["warning"] = " ".join(judge.warnings)[:500]
            first = results["sgd"]
            if first.get("why", "").startswith("dtc") or (
                    "warning" in first and not first["ok"]):
                return results
        if "dropout" in same:
            results["dropout"] = same["dropout"]
        elif reference["random"] and has_dropout:
            found = judge.train([*SGD, "--dtype", "f32"], 1)
            bad = isinstance(found, str) or None in found["loss"]
            results["dropout"] = dict(ok=not bad,
                                      **({"why": str(found)} if bad else {}))
    return results


def check_model(args, name, has_dropout):
    """Returns the entry of a model in --results."""
    folder = args.work / name
    if not (folder / "reference.json").exists():
        status, output = run([args.python, HERE / "export.py", name, folder],
                             args.timeout * 4)
        if status != 0:
            shutil.rmtree(folder, ignore_errors=True)
            return dict(error=output.strip().splitlines()[-1][:300])
    reference = json.loads((folder / "reference.json").read_text())
    result = {key: reference[key]
              for key in ("has_heads", "random", "batch_norm", "parameters",
                          "loss", "not_exported")}
    others = {}
    for exporter in (*EXPORTERS, *PLAIN_EXPORTERS):
        file = folder / f"{exporter}.onnx"
        if file.exists():
            result[exporter] = check_file(args, file, reference, has_dropout,
                                          others)
    return result


def describe_check(check):
    """Returns "ok", the deviation, or the reason for a failure."""
    if check["ok"]:
        return "ok"
    if "deviation" in check:
        return f"off by {check['deviation']:.0e}"
    return f"({check['why'][:300]})"


def describe(result):
    """Returns one line on a model for the terminal."""
    if "error" in result:
        return "PyTorch: " + result["error"]
    return "  ".join(
        f"{exporter} " + ("-" if exporter not in result else ",".join(
            f"{name} {describe_check(check)[:40]}" for name, check in
            result[exporter].items()))
        for exporter in (*EXPORTERS, *PLAIN_EXPORTERS)
        if exporter in EXPORTERS or exporter in result)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--dtc", type=Path, required=True)
    parser.add_argument("--python", default=sys.executable,
                        help="a Python that has PyTorch")
    parser.add_argument("--work", type=Path, default=Path("build/models"))
    parser.add_argument("--results", type=Path,
                        default=Path("build/models/results.json"))
    parser.add_argument("--table", type=Path)
    parser.add_argument("--only", default="*", metavar="GLOB,...")
    parser.add_argument("--redo", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--timeout", type=int, default=150)
    args = parser.parse_args()
    args.work = args.work.resolve()
    args.work.mkdir(parents=True, exist_ok=True)
    results = {}
    if args.results.exists():
        results = json.loads(args.results.read_text())
    has_dropout = "--dropout" in run([args.dtc, "--help"], 60)[1]
    names = [name for name in model_names()
             if any(fnmatch.fnmatch(name, only)
                    for only in args.only.split(","))
             and (args.redo or name not in results)]
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        jobs = {pool.submit(check_model, args, name, has_dropout): name
                for name in names}
        for job in concurrent.futures.as_completed(jobs):
            results[jobs[job]] = job.result()
            print(f"{jobs[job]}: {describe(job.result())}", flush=True)
            args.results.write_text(json.dumps(results, indent=1,
                                               sort_keys=True) + "\n")
    if args.table:
        known = list(model_names())
        write_table({name: result for name, result in results.items()
                     if name in known}, known, TOLERANCE, args.table)


if __name__ == "__main__":
    main()
