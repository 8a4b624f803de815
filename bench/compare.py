"""Compares step times of dtc with PyTorch and JAX, in fp32 with AdamW, in one run.

usage: compare.py [--only GLOB[,GLOB...]] [--threads N[,N...]] [--ranks]
                  [--rounds N] [--scale X] [--no-peers] [--dtc-options "..."]

Needs dtc and bench-ceilings (a build's bin folder) on PATH, and the packages in
requirements.txt. Contenders take turns. Each runs in a separate process that is
bound to as many cores as it has threads. Peers: PyTorch eager as installed; tuned
(fused AdamW, channels last, an allocator that keeps its memory, AVX-512 if the CPU
has it); torch.compile of that; JAX with jit, for MLPs. --ranks also compares two
ranks of one thread with PyTorch's DDP over gloo.

Prints Markdown: the smallest step time of each contender, the ratio of the best
peer to dtc, and the ratio of the floor to dtc. The floor is the model's FLOPs of a
step over the machine's rate of multiply-adds, plus the memory traffic of the update
over the bandwidth. The same run measures both rates. Convolutions of 3 x 3 need a
quarter of these FLOPs (dtc's --winograd), so a step may take less. The medians come
last.
"""

import argparse
import fnmatch
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from workloads import WORKLOADS

HERE = Path(__file__).resolve().parent
PEERS = {"installed": "PyTorch", "tuned": "tuned", "compiled": "torch.compile",
         "jax": "JAX"}
# Without these malloc settings each step returns its memory to the kernel and
# page-faults it back in.
TUNED = {"MALLOC_MMAP_THRESHOLD_": "1073741824",
         "MALLOC_TRIM_THRESHOLD_": "4294967296",
         "MALLOC_TOP_PAD_": "268435456"}
UPDATE_BYTES = 28  # AdamW reads four floats of each parameter and writes three


def cpu():
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    fields = dict(line.split(":", 1) for line in lines if ":" in line)
    fields = {name.strip(): value.strip() for name, value in fields.items()}
    return fields.get("model name", "unknown"), fields.get("flags", "").split()


def warm_up(steps):
    return max(2, steps // 10)


class Bench:
    """Compiles a workload's program and runs it and its peers."""

    def __init__(self, name, folder, options):
        self.name, self.work = name, WORKLOADS[name]
        self.folder = folder
        self.options = options
        self.flops = None
        self.export()

    def export(self):
        """Writes the model and two batches of data. A separate process does
        this, because it needs much memory."""
        subprocess.run([sys.executable, __file__, "--export", self.name,
                        self.folder], check=True)
        self.parameters = int((self.folder / "parameters").read_text())

    def compile(self, ranks):
        program = self.folder / f"t{ranks}"
        run_pinned(
            ["dtc", self.folder / "model.onnx", "--batch", self.work.batch,
             "--dp", ranks, "--loss", "cross-entropy", "--optimizer", "adamw",
             *self.options, "-o", program], os.cpu_count(), {})
        return program

    def run_dtc(self, program, steps, threads, ranks, *options):
        metrics = self.folder / "metrics.jsonl"
        metrics.unlink(missing_ok=True)
        launcher = [] if ranks == 1 else [
            "mpirun", "--bind-to", "none", "-n", str(ranks)]
        run_pinned(
            [*launcher, program, "--data", self.folder / "data", "--steps",
             str(steps), "--lr", "1e-4", "--threads", str(threads),
             "--metrics", metrics, "--progress", "plain", *options],
            threads * ranks, {"OMPI_ALLOW_RUN_AS_ROOT": "1",
                              "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"})
        lines = [json.loads(line) for line in
                 metrics.read_text().splitlines()[1:]]
        lines = [line for line in lines if "seconds" in line]
        self.flops = lines[-1]["model_flops_per_second"] * lines[-1]["seconds"]
        return dict(seconds=[line["seconds"] for line in lines])

    def run_peer(self, kind, steps, threads, ranks):
        environment = {"OMP_NUM_THREADS": str(threads)}
        if kind == "jax":
            environment["XLA_FLAGS"] = (
                "--xla_cpu_multi_thread_eigen=" + str(threads > 1).lower())
        elif kind != "installed":
            environment.update(TUNED)
            if "avx512f" in cpu()[1]:
                environment["ATEN_CPU_CAPABILITY"] = "avx512"
        command = [sys.executable, HERE / "peers.py", kind, self.name,
                   str(steps), str(threads)]
        if ranks == 1:
            return json.loads(run_pinned(command, threads, environment))
        with socket.socket() as server:
            server.bind(("127.0.0.1", 0))
            port = server.getsockname()[1]
        environment.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port),
                           WORLD_SIZE=str(ranks))
        workers = [start_pinned(command, threads * ranks,
                                {**environment, "RANK": str(rank)})
                   for rank in range(ranks)]
        outputs = [finish(worker) for worker in workers]
        return json.loads(outputs[0].splitlines()[-1])


def start_pinned(command, cores, environment):
    return subprocess.Popen(
        [str(word) for word in command], env={**os.environ, **environment},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: os.sched_setaffinity(
            0, sorted(os.sched_getaffinity(0))[:cores]))


def finish(process):
    output, errors = process.communicate()
    if process.returncode:
        sys.exit(f"compare.py: error: {process.args[0]} ended with status "
                 f"{process.returncode}:\n{errors}")
    return output


def run_pinned(command, cores, environment):
    output = finish(start_pinned(command, cores, environment)).splitlines()
    return output[-1] if output else ""


def export(name, folder):
    sys.path.insert(0, str(HERE.parent / "tools"))
    import numpy as np
    import onnx
    import torch
    from export import export as export_model
    work = WORKLOADS[name]
    torch.manual_seed(0)
    model = work.module()
    export_model(model, (work.inputs(2),), folder / "model.onnx")
    graph = onnx.load(folder / "model.onnx", load_external_data=False).graph
    data = folder / "data"
    data.mkdir()
    np.save(data / f"{graph.input[0].name}.npy",
            work.inputs(2 * work.batch).numpy())
    np.save(data / "labels.npy", work.labels(2 * work.batch).numpy())
    (folder / "parameters").write_text(
        str(sum(value.numel() for value in model.parameters())))


def measure(bench, threads, ranks, arguments):
    """Returns the seconds of the steps after the warm-up, by contender."""
    steps = max(4, int(bench.work.steps * arguments.scale))
    program = bench.compile(ranks)
    kinds = [] if arguments.no_peers else list(PEERS)
    if not bench.work.widths or ranks > 1:
        kinds = [kind for kind in kinds if kind != "jax"]
    times = {kind: [] for kind in ["dtc", *kinds]}
    for _ in range(arguments.rounds):
        for kind in times:
            result = (bench.run_dtc(program, steps, threads, ranks)
                      if kind == "dtc" else
                      bench.run_peer(kind, steps, threads, ranks))
            times[kind] += result["seconds"][warm_up(steps):]
    return times


def milliseconds(seconds):
    return f"{seconds * 1e3:.3g}" if seconds < 1 else f"{seconds * 1e3:.0f}"


def row(name, times, floor, summary):
    own = summary(times["dtc"])
    peers = [summary(times[kind]) if kind in times else None for kind in PEERS]
    best = min((peer for peer in peers if peer), default=None)
    cells = [name, milliseconds(own),
             *(milliseconds(peer) if peer else "" for peer in peers),
             f"{best / own:.2f}" if best else "",
             milliseconds(floor), f"{floor / own:.2f}"]
    print("| " + " | ".join(cells) + " |", flush=True)


def print_head(title):
    print(f"\n{title}\n")
    print("| work | dtc | " + " | ".join(PEERS.values()) +
          " | best peer / dtc | floor | floor / dtc |")
    print("|---|" + "---|" * (len(PEERS) + 4), flush=True)


def compare(arguments, folder):
    names = [name for name in WORKLOADS if any(
        fnmatch.fnmatchcase(name, glob) for glob in arguments.only.split(","))]
    if not names:
        sys.exit(f"compare.py: error: --only {arguments.only} names none of: " +
                 "; ".join(WORKLOADS))
    setups = [(int(threads), 1) for threads in arguments.threads.split(",")]
    if arguments.ranks:
        setups.append((1, 2))
    ceilings = {cores: json.loads(run_pinned(["bench-ceilings", cores], cores,
                                             {}))
                for cores in {threads * ranks for threads, ranks in setups}}
    print(f"{cpu()[0]}, {os.cpu_count()} CPUs; " + "; ".join(
        f"{cores} threads: {c['flops'] / 1e9:.0f} GFLOP/s, "
        f"{c['bytes_per_second'] / 1e9:.0f} GB/s"
        for cores, c in sorted(ceilings.items())))
    benches, medians = {}, []
    for threads, ranks in setups:
        title = (f"{threads} thread(s)" if ranks == 1 else
                 f"{ranks} ranks of {threads} thread")
        print_head(title + ", smallest ms of a step")
        ceiling = ceilings[threads * ranks]
        for name in names:
            if name not in benches:
                own = folder / str(len(benches))
                own.mkdir()
                benches[name] = Bench(name, own, arguments.dtc_options.split())
            bench = benches[name]
            times = measure(bench, threads, ranks, arguments)
            # Each rank updates all parameters.
            floor = (bench.flops / ceiling["flops"] + ranks * UPDATE_BYTES *
                     bench.parameters / ceiling["bytes_per_second"])
            row(name, times, floor, min)
            medians.append((title, name, times, floor))
    shown = None
    for title, name, times, floor in medians:
        if title != shown:
            print_head(title + ", median ms of a step")
            shown = title
        row(name, times, floor, statistics.median)


def main():
    if sys.argv[1:2] == ["--export"]:
        return export(sys.argv[2], Path(sys.argv[3]))
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", default="*")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--ranks", action="store_true")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--scale", type=float, default=1,
                        help="multiplies the steps of a round")
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--dtc-options", default="")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        compare(arguments, Path(folder))


if __name__ == "__main__":
    main()
