"""The checks of run.sh, in Markdown: programs of dtc against PyTorch.

usage: check.py PART BUNDLE WORK [--seconds N] [--device cpu] [--quick]

PART is parity, ranks, sanitizer, speed or products. BUNDLE is the folder that
prepare.sh packed, WORK a folder for data, weights and logs. speed measures as often
as N seconds allow. With --device cpu PyTorch computes on the CPU, for programs of
--arch host on stand-ins for NVIDIA's libraries. --quick times few steps.
"""

import argparse
import ctypes
import fcntl
import gc
import json
import os
import re
import shutil
import signal
import socket
import statistics
import struct
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file, save_file

import models

STEPS = 3  # of SGD; their losses are compared


@dataclass
class Limit:
    """The allowed distance of a precision from fp64: PyTorch's distance in this
    precision times a factor, or a small constant if that is larger. Many layers of
    batch norm amplify rounding."""

    factor: float
    loss: float
    gradient: float


# tf32 would exceed the limits of fp32. On stand-ins gpt2-tiny has 4e-9 and 4e-7;
# no device has been measured yet.
LIMITS = {"fp32": Limit(3, 1e-5, 2e-4), "bf16": Limit(2, 1e-3, 5e-3)}
RANKS_LOSS = 1e-5


def table(*columns):
    print("\n| " + " | ".join(columns) + " |")
    print("|" + "---|" * len(columns), flush=True)


def row(*cells):
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def judge(found, allowed):
    return f"{found:.2e}", f"{allowed:.2e}", (
        "PASS" if found <= allowed else "FAIL")


def end_with_parent():
    """Ends a started program when this script ends."""
    set_option, parent_ends = 1, signal.SIGKILL
    ctypes.CDLL(None).prctl(set_option, parent_ends)


def raise_loopback():
    """Ranks use loopback; in a container without a network it may be down."""
    up, get_flags, set_flags = 1, 0x8913, 0x8914
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as channel:
        request = struct.pack("16sh14x", b"lo", 0)
        request = fcntl.ioctl(channel, get_flags, request)
        flags = struct.unpack("16sh14x", request)[1]
        if not flags & up:
            fcntl.ioctl(channel, set_flags,
                        struct.pack("16sh14x", b"lo", flags | up))


class Bench:
    """Holds the paths and starts programs."""

    def __init__(self, bundle, work, args):
        self.bundle, self.work, self.device = bundle, work, args.device
        self.quick, self.end = args.quick, time.monotonic() + args.seconds
        self.work.mkdir(parents=True, exist_ok=True)
        self.programs = json.loads((bundle / "programs.json").read_text())

    def select(self, use):
        return [entry for entry in self.programs if entry["use"] == use]

    def data(self, model, steps=8):
        """Returns the folder of a model's data."""
        folder = self.work / f"{model}.data"
        if not folder.exists():
            inputs, labels = models.make_data(model, steps)
            folder.mkdir()
            for name, array in {**inputs, "labels": labels}.items():
                np.save(folder / f"{name}.npy", array)
        return folder

    def batch(self, model, step):
        """Returns inputs and labels of a step, counted from 0."""
        folder, rows = self.data(model), models.MODELS[model].rows
        count = len(np.load(folder / "labels.npy", mmap_mode="r")) // rows

        def load(name):
            array = np.load(folder / f"{name}.npy", mmap_mode="r")
            start = step % count * rows
            tensor = torch.from_numpy(array[start:start + rows].copy())
            if not tensor.is_floating_point():
                tensor = tensor.long()
            return tensor.to(self.device)

        names = [path.stem for path in sorted(folder.iterdir())
                 if path.stem != "labels"]
        return [load(name) for name in names], load("labels")

    def build(self, model):
        """Builds the model from its seed, and puts its weights beside its programs."""
        module = models.build(model)
        weights = self.work / f"{model}.safetensors"
        if not weights.exists():
            tensors = {**dict(module.named_buffers()), **module.state_dict()}
            part = weights.with_suffix(".part")
            save_file({name: tensor.detach().contiguous().clone()
                       for name, tensor in tensors.items()}, part)
            part.rename(weights)
        for entry in self.programs:
            link = self.bundle / f"{entry['name']}.safetensors"
            if entry["model"] == model:
                link.unlink(missing_ok=True)
                link.symlink_to(weights)
        return module.to(self.device)

    def synchronize(self):
        if self.device == "cuda":
            torch.cuda.synchronize()

    def run(self, entry, steps, *options, prefix=(), timeout=60):
        """Runs a program and returns the metrics of its steps. Its ranks share
        the one GPU: NCCL takes each for a separate machine, and uses sockets
        between them."""
        name, ranks = entry["name"], entry["ranks"]
        gc.collect()
        if self.device == "cuda":  # the program needs the memory, too
            torch.cuda.empty_cache()
        metrics = self.work / f"{name}.jsonl"
        meeting = self.work / f"{name}.meeting"
        metrics.unlink(missing_ok=True)
        meeting.unlink(missing_ok=True)
        command = [*prefix, self.bundle / name, "--data",
                   self.data(entry["model"]), "--no-shuffle", "--progress",
                   "plain", "--steps", steps, "--metrics", metrics, *options]
        if ranks > 1:
            command += ["--rendezvous", meeting]
        processes, failed = [], None
        try:
            for rank in range(ranks):
                own = dict(RANK=rank, WORLD_SIZE=ranks, LOCAL_RANK=0,
                           LOCAL_WORLD_SIZE=1, NCCL_HOSTID=f"rank-{rank}",
                           NCCL_NET="Socket", NCCL_SOCKET_IFNAME="lo",
                           NCCL_MNNVL_ENABLE=0, NCCL_DEBUG="WARN")
                if ranks == 1:
                    own = {}
                with open(self.log(entry, rank), "wb") as log:
                    processes.append(subprocess.Popen(
                        [str(word) for word in command], stdout=log,
                        stderr=subprocess.STDOUT, start_new_session=True,
                        preexec_fn=end_with_parent,
                        env={**os.environ,
                             **{k: str(v) for k, v in own.items()}}))
            end = time.monotonic() + timeout
            for rank, process in enumerate(processes):
                try:
                    status = process.wait(max(0.1, end - time.monotonic()))
                except subprocess.TimeoutExpired:
                    status = f"no end after {timeout} s"
                if status and not failed:
                    text = self.log(entry, rank).read_text(errors="replace")
                    failed = f"{status}: {text[-400:].strip()}"
        finally:
            for process in processes:  # and the processes that a tool started
                try:
                    os.killpg(process.pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
                process.wait()
        if failed:
            raise RuntimeError(f"{name}: {' '.join(failed.split())}")
        return [json.loads(line) for line in metrics.read_text().splitlines()[1:]]

    def log(self, entry, rank=0):
        """Returns the log of a rank in the program's last run."""
        return self.work / f"{entry['name']}.{rank}.log"


def train(bench, model, precision, rate):
    """Returns PyTorch's losses of SGD, and the gradients of the first step."""
    module = bench.build(model)
    if precision == "fp64":
        module = module.double()
    optimizer = torch.optim.SGD(module.parameters(), lr=rate)
    losses, gradients = [], {}
    for step in range(STEPS):
        inputs, labels = bench.batch(model, step)
        if precision == "fp64":
            inputs = [x.double() if x.is_floating_point() else x
                      for x in inputs]
        optimizer.zero_grad()
        with torch.autocast(bench.device, torch.bfloat16,
                            enabled=precision == "bf16"):
            loss = models.compute_loss(module, inputs, labels)
        loss.backward()
        losses.append(loss.item())
        if not gradients:
            gradients = {name: parameter.grad.double().cpu() for
                         name, parameter in module.named_parameters()}
        optimizer.step()
    return losses, gradients


def distance(found, expected):
    """Returns the largest relative distance of losses."""
    return max(abs(a - b) / abs(b) for a, b in zip(found, expected,
                                                  strict=True))


def gradient_distance(found, expected):
    """Returns the relative distance of all gradients as one vector, in the 2-norm."""
    if set(found) != set(expected):
        raise RuntimeError("gradients of other parameters: "
                           f"{sorted(set(found) ^ set(expected))[:4]}")
    error = sum(((found[name].double() - value) ** 2).sum()
                for name, value in expected.items())
    norm = sum((value ** 2).sum() for value in expected.values())
    return float((error / norm) ** 0.5)


def check_parity(bench, entry, references):
    model, precision, rate = entry["model"], entry["precision"], entry["lr"]
    if model not in references:
        references[model] = train(bench, model, "fp64", rate)
    losses, gradients = references[model]
    their_losses, their_gradients = train(bench, model, precision, rate)
    folder = bench.work / f"{entry['name']}.gradients"
    folder.mkdir()
    try:
        metrics = bench.run(entry, STEPS, "--lr", rate, "--dump-gradients",
                            folder, timeout=120)
        own_gradients = load_file(folder / "step-1.safetensors")
    except RuntimeError as error:
        raise RuntimeError(f"{error}; {without_graph(bench, entry)}") from None
    finally:
        shutil.rmtree(folder)
    limit = LIMITS[precision]
    row(model, precision, f"losses of {STEPS} steps",
        *judge(distance([line["loss"] for line in metrics], losses),
               max(limit.loss, limit.factor * distance(their_losses, losses))))
    row(model, precision, "gradients of step 1",
        *judge(gradient_distance(own_gradients, gradients),
               max(limit.gradient, limit.factor * gradient_distance(
                   their_gradients, gradients))))


def without_graph(bench, entry):
    """Says whether a failed program runs if its steps are not captured."""
    try:
        bench.run(entry, STEPS, "--lr", entry["lr"], "--cuda-graph", "off")
        return "with --cuda-graph off it runs"
    except RuntimeError:
        return "with --cuda-graph off it fails, too"


def each(entries, check):
    """Checks each program. A failing program is a row, and the next one runs."""
    for entry in entries:
        try:
            check(entry)
        except Exception as error:  # pylint: disable=broad-except
            text = " ".join(str(error).split()).replace("|", "/")
            row(entry["model"], entry["precision"], entry["name"],
                text[-300:] or type(error).__name__, "", "FAIL")


def print_versions():
    """Prints the versions of libraries, as far as they are known."""
    def ask(name, version):
        try:
            return f"{name} {version()}"
        except Exception as error:  # pylint: disable=broad-except
            return f"{name} of unknown version ({type(error).__name__})"

    def blas():
        for library in ("libcublasLt.so.13", "libcublasLt.so.12"):
            try:
                version = ctypes.CDLL(library).cublasLtGetVersion
            except OSError:
                continue
            version.restype = ctypes.c_size_t
            return version()
        raise FileNotFoundError

    print("\n" + ", ".join([
        f"PyTorch {torch.__version__}", ask("cuBLASLt", blas),
        ask("cuDNN", torch.backends.cudnn.version),
        ask("NCCL", lambda: ".".join(map(str, torch.cuda.nccl.version())))]),
        flush=True)


def parity(bench):
    """Compares dtc with PyTorch in fp64, on one rank."""
    if bench.device == "cuda":
        print_versions()
    table("model", "precision", "relative distance from PyTorch's fp64 in",
          "found", "allowed", "")
    references = {}
    each(bench.select("parity"),
         lambda entry: check_parity(bench, entry, references))


def ranks(bench):
    """Compares plans of several ranks on one GPU with one rank."""
    try:
        raise_loopback()
    except OSError as error:
        print(f"\nThe loopback network is down and cannot be raised: {error}")
    table("model", "precision", "relative distance from one rank's losses of",
          "found", "allowed", "")
    bench.build("gpt2-tiny")
    one = next(entry for entry in bench.select("parity") if
               entry["model"] == "gpt2-tiny" and entry["precision"] == "fp32")
    expected = [line["loss"] for line in
                bench.run(one, STEPS, "--lr", one["lr"])]

    def check(entry):
        metrics = bench.run(entry, STEPS, "--lr", entry["lr"], timeout=40)
        row(entry["model"], entry["precision"], entry["plan"], *judge(
            distance([line["loss"] for line in metrics], expected),
            RANKS_LOSS))

    each(bench.select("ranks"), check)


def sanitizer(bench):
    """Runs compute-sanitizer on the kernels of a step. The names of dtc's kernels
    begin with kernel_; this excludes kernels of NVIDIA's libraries."""
    tool = shutil.which("compute-sanitizer") or shutil.which(
        "compute-sanitizer", path="/usr/local/cuda/bin")
    if not tool:
        print("\ncompute-sanitizer is not installed: not checked.")
        return
    table("model", "precision", "compute-sanitizer", "found", "allowed", "")
    bench.build("gpt2-tiny")
    for name in ("memcheck", "racecheck"):
        def check(entry, name=name):
            try:
                bench.run(entry, 1, prefix=[
                    tool, "--tool", name, "--error-exitcode", "9",
                    "--report-api-errors", "no", "--kernel-name",
                    "kns=kernel_"], timeout=40)
            except RuntimeError as error:
                if "SUMMARY" in bench.log(entry).read_text(errors="replace"):
                    raise
                row(entry["model"], entry["precision"], name, "not checked: "
                    "the tool does not reach its summary", "", str(error))
                return
            row(entry["model"], entry["precision"], name, "0 errors",
                "0 errors", "PASS")
        each([entry for entry in bench.select("parity") if
              entry["model"] == "gpt2-tiny"], check)


def measure(bench, work, count):
    """Returns the seconds of the fastest of `count` runs."""
    work()
    times = []
    for _ in range(count):
        bench.synchronize()
        start = time.perf_counter()
        work()
        bench.synchronize()
        times.append(time.perf_counter() - start)
    return min(times)


def measure_ceilings(bench):
    """Returns FLOPs per second of a large product in bf16, and bytes per second of
    a large copy."""
    size = 1024 if bench.quick else 8192
    a = torch.randn(size, size, device=bench.device, dtype=torch.bfloat16)
    b = torch.randn_like(a)
    flops = 2 * size ** 3 / measure(bench, lambda: a @ b, 30)
    source = torch.empty(size * size * 16, device=bench.device)
    target = torch.empty_like(source)
    moved = 2 * source.nbytes / measure(bench, lambda: target.copy_(source),
                                        10)
    return flops, moved


class Peer:
    """Runs steps of PyTorch with fused AdamW and bf16 autocast."""

    def __init__(self, bench, model, compiled):
        self.bench = bench
        module = bench.build(model)
        self.optimizer = torch.optim.AdamW(module.parameters(), lr=1e-4,
                                           fused=True)
        self.batches = [bench.batch(model, step) for step in range(8)]

        def forward(inputs, labels):
            with torch.autocast(bench.device, torch.bfloat16):
                return models.compute_loss(module, inputs, labels)

        self.forward = torch.compile(forward) if compiled else forward

    def run(self, warmup, steps):
        seconds = []
        for step in range(warmup + steps):
            inputs, labels = self.batches[step % len(self.batches)]
            self.bench.synchronize()
            start = time.perf_counter()
            self.optimizer.zero_grad()
            loss = self.forward(inputs, labels)
            loss.backward()
            self.optimizer.step()
            loss.item()
            seconds.append(time.perf_counter() - start)
        return seconds[warmup:]


def count_warmup(seconds, quick):
    """Returns the number of steps that take two seconds, after which clocks have
    settled."""
    return 1 if quick else min(2000, max(20, int(2 / max(seconds, 1e-6))))


def measure_rounds(bench, entry, seconds):
    """Returns step times by contender. Contenders take turns for `seconds`, at least
    once. A contender that fails has no times, and a row that says why."""
    bench.build(entry["model"])  # writes the program's weights
    peers = {}

    def run_peer(name, compiled, warmup, steps):
        if name not in peers:
            peers[name] = Peer(bench, entry["model"], compiled)
        return peers[name].run(warmup, steps)

    def run_program(warmup, steps):
        return [line["seconds"] for line in
                bench.run(entry, warmup + steps, "--lr", 1e-4, timeout=120)
                ][warmup:]

    contenders = {
        "dtc": run_program,
        "PyTorch eager":
            lambda *counts: run_peer("eager", False, *counts),
        "PyTorch compiled":
            lambda *counts: run_peer("compiled", True, *counts)}
    count, rounds = (2, 1) if bench.quick else (100, 3)
    times = {name: [] for name in contenders}
    end = time.monotonic() + seconds
    for number in range(rounds):
        if number and time.monotonic() + last > end:
            break
        start = time.monotonic()
        for name, run in list(contenders.items()):
            try:
                # A few steps give the time of one; the first are slow.
                one = 0 if bench.quick else statistics.median(
                    times[name] or run(2, 3))
                timed = run(count_warmup(one, bench.quick), count)
                times[name] += timed
                # This stays, whatever happens to the next contenders.
                with open(bench.work / "speed.times.log", "a",
                          encoding="utf-8") as log:
                    print(json.dumps({"model": entry["model"],
                                      "contender": name, "seconds": timed}),
                          file=log)
            except Exception as error:  # pylint: disable=broad-except
                del contenders[name]
                text = " ".join(str(error).split()).replace("|", "/")
                row(entry["model"], name, text[-300:], *[""] * 6,
                    "FAIL" if name == "dtc" else "")
        # The first round compiles, so it takes longer than the next.
        last = time.monotonic() - start
    return times


def time_program(bench, entry, seconds, peaks, copy):
    model = entry["model"]
    times = {name: values for name, values in
             measure_rounds(bench, entry, seconds).items() if values}
    best = min((statistics.median(values) for name, values in times.items()
                if name != "dtc"), default=None)
    shape = models.MODELS[model]
    units = shape.rows * (shape.length or 1)
    for name, values in times.items():
        median = statistics.median(values)
        low, _, high = statistics.quantiles(values, n=4)
        flops = entry["model_flops"] / median
        row(model, name, f"{median * 1e3:.2f}",
            f"{low * 1e3:.2f} to {high * 1e3:.2f}", f"{units / median:.0f}",
            *(f"{flops / peak:.1%}" for peak in peaks),
            f"{entry['bytes'] / median / copy:.1%}" if name == "dtc" else "",
            f"{best / median:.2f}" if best else "", "")


def speed(bench):
    """Compares step times in bf16 with AdamW. Contenders take turns."""
    product, copy = measure_ceilings(bench)
    name = (torch.cuda.get_device_name() if bench.device == "cuda" else
            "CPU, which is no measurement")
    print(f"\n{name}; PyTorch {torch.__version__}: a product of bf16 reaches "
          f"{product / 1e12:.0f} TFLOP/s, a copy {copy / 1e12:.2f} TB/s. MFU "
          "is relative to the data sheet's 989.4 TFLOP/s, 'of product' to the "
          "measured product. 'of copy' compares the bytes that dtc's plan moves "
          "with the copy. The ratio is the better of PyTorch's medians over the "
          "contender's. A unit is a token or an image.")
    table("model", "", "median ms", "quartiles ms", "units/s", "MFU",
          "of product", "of copy", "ratio", "")
    entries = bench.select("speed")
    for number, entry in enumerate(entries):
        share = (bench.end - time.monotonic()) / (len(entries) - number)
        each([entry], lambda entry, share=share: time_program(
            bench, entry, share, (989.4e12, product), copy))


TRIED = re.compile(
    r"call +(?P<what>product .*), (?P<count>\d+) a step: ok, "
    r"(?P<time>[0-9.]+) (?P<unit>us|ms|s)(, (?P<rate>[0-9.e+]+) GFLOP/s)?"
    r"(; apart from what follows (?P<apart>[0-9.]+) (?P<apart_unit>us|ms|s))?")
MICROSECONDS = {"us": 1, "ms": 1e3, "s": 1e6}


def products(bench):
    """Times each distinct product of a step with its epilogue, and as a plain
    product with a kernel behind it."""
    print("\nTimes of single calls by --diagnose, in microseconds. 'a step' "
          "counts the calls in a step. Without its epilogue, a kernel follows "
          "the product, or another product that sums.")
    table("model", "product", "a step", "us", "us without epilogue", "TFLOP/s",
          "")

    def show(entry, tried):
        def microseconds(time, unit):
            return f"{float(tried[time]) * MICROSECONDS[tried[unit]]:.1f}"
        row(entry["model"], tried["what"], tried["count"],
            microseconds("time", "unit"),
            microseconds("apart", "apart_unit") if tried["apart"] else "",
            f"{float(tried['rate']) / 1e3:.3g}" if tried["rate"] else "", "")

    def check(entry):
        command = [str(bench.bundle / entry["name"]), "--diagnose"]
        found, wrong = 0, []
        with open(bench.log(entry), "w", encoding="utf-8") as log, \
                subprocess.Popen(command, stdout=subprocess.PIPE, text=True,
                                 stderr=subprocess.STDOUT,
                                 preexec_fn=end_with_parent) as process:
            end = threading.Timer(max(1, bench.end - time.monotonic()),
                                  process.kill)
            end.start()
            for line in process.stdout:  # printed rows stay
                log.write(line)
                tried = TRIED.match(line)
                if tried:
                    found += 1
                    show(entry, tried)
                elif "FAILED" in line or "WRONG" in line:
                    wrong.append(line)
            end.cancel()
        for line in wrong:
            row(entry["model"], line.strip().replace("|", "/")[:300], *[""] * 4,
                "FAIL")
        row(entry["model"], f"{found} products, status {process.returncode}",
            *[""] * 4, "PASS" if found and process.returncode == 0 else "FAIL")

    each(bench.select("speed"), check)


def main():
    parts = {part.__name__: part for part in
             (parity, ranks, sanitizer, speed, products)}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=parts)
    parser.add_argument("bundle", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    # SIGTERM ends this script, and so its programs.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if args.device == "cuda" and not torch.cuda.is_available():
        sys.exit("found no GPU that PyTorch can use")
    # PyTorch uses tf32 for convolutions by default; the checks need fp32.
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    parts[args.part](Bench(args.bundle.resolve(), args.work.resolve(), args))


if __name__ == "__main__":
    main()
