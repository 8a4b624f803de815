"""Times a training step of gpt2-tiny on two ranks against PyTorch's DDP.

usage: ddp_overlap.py [--program PROGRAM] [--rounds N] [--steps N]

PROGRAM is gpt2-tiny compiled with --dp 2, batch 32 and AdamW; without it, `dtc`
on PATH compiles it. It runs with collectives through shared memory and through
MPI, overlapping with computation and not. Peers: DDP over gloo, two processes,
as it is installed and with what makes it faster (`TUNED`). One thread each.
Contenders run in turn, several rounds; every step after the warm-up counts, at
the time of the first rank.
"""

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from gpt2_tiny import (BATCH, INPUTS, TUNED, WARMUP, compile_program, cpu_info,
                       make_parser, measure, parse_arguments, print_times)

RANKS = 2


def torch_worker(steps, tuned):
    """One rank; the first prints the seconds of each step as JSON."""
    sys.path.insert(0, str(INPUTS))
    import numpy as np
    import torch
    from models import gpt2_tiny_config
    from torch.nn.parallel import DistributedDataParallel
    from transformers import GPT2LMHeadModel

    torch.distributed.init_process_group("gloo")
    rank = torch.distributed.get_rank()
    torch.manual_seed(0)
    model = DistributedDataParallel(
        GPT2LMHeadModel(gpt2_tiny_config("sdpa")).train(),
        gradient_as_bucket_view=tuned)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3,
                                  fused=True if tuned else None)
    data = INPUTS / "gpt2-tiny.data"
    inputs, labels = (torch.from_numpy(np.load(data / f"{name}.npy")).long()
                      for name in ("input_ids", "labels"))
    part = BATCH // RANKS
    seconds = []
    for step in range(steps):
        first = step * BATCH % len(inputs) + rank * part
        rows = slice(first, first + part)
        start = time.perf_counter()
        optimizer.zero_grad(set_to_none=not tuned)
        logits = model(input_ids=inputs[rows]).logits
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1),
                                                 labels[rows].flatten())
        loss.backward()
        optimizer.step()
        loss.item()
        seconds.append(time.perf_counter() - start)
    torch.distributed.destroy_process_group()
    if rank == 0:
        print(json.dumps(dict(seconds=seconds, torch=torch.__version__)))


def free_port():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return server.getsockname()[1]


def run_torch(args, tuned):
    environment = {**os.environ, "OMP_NUM_THREADS": "1",
                   "MASTER_ADDR": "127.0.0.1",
                   "MASTER_PORT": str(free_port()), "WORLD_SIZE": str(RANKS)}
    if tuned:
        environment.update(TUNED)
        if "avx512f" in cpu_info()[1]:
            environment["ATEN_CPU_CAPABILITY"] = "avx512"
    workers = [
        subprocess.Popen(
            [sys.executable, __file__, "--steps", str(args.steps), "--worker",
             "tuned" if tuned else "installed"],
            env={**environment, "RANK": str(rank)}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        for rank in range(RANKS)]
    outputs = [worker.communicate()[0] for worker in workers]
    if any(worker.returncode for worker in workers):
        sys.exit("ddp_overlap.py: error: a rank of PyTorch failed; run "
                 f"{sys.executable} with bench/requirements.txt installed")
    return json.loads(outputs[0].splitlines()[-1])


def run_dtc(args, directory, collectives, overlap):
    metrics = directory / "metrics.jsonl"
    metrics.unlink(missing_ok=True)
    subprocess.run(
        ["mpirun", "--bind-to", "none", "-n", str(RANKS),
         args.program.resolve(), "--data", INPUTS / "gpt2-tiny.data",
         "--steps", str(args.steps), "--lr", "1e-3", "--metrics", metrics,
         "--collectives", collectives, "--overlap", overlap],
        env={**os.environ, "OMP_NUM_THREADS": "1",
             "OMPI_ALLOW_RUN_AS_ROOT": "1",
             "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"},
        check=True, stdout=subprocess.DEVNULL)
    lines = metrics.read_text().splitlines()[1:]
    return dict(seconds=[json.loads(line)["seconds"] for line in lines])


def main():
    args = parse_arguments(make_parser(__doc__, rounds=5))
    if args.worker:
        return torch_worker(args.steps, args.worker == "tuned")

    with tempfile.TemporaryDirectory() as temporary:
        directory = Path(temporary)
        compile_program(args, directory, "--dp", str(RANKS))
        contenders = {}
        for engine, collectives in (("shared memory", "auto"), ("MPI", "mpi")):
            for overlap in ("on", "off"):
                contenders[f"{engine}, overlap {overlap}"] = (
                    lambda c=collectives, o=overlap:
                    run_dtc(args, directory, c, o))
        contenders["DDP as installed"] = lambda: run_torch(args, tuned=False)
        contenders["DDP tuned"] = lambda: run_torch(args, tuned=True)
        times, notes = measure(contenders, args.rounds)

    print(f"gpt2-tiny, batch {BATCH} on {RANKS} ranks of one thread, AdamW, "
          f"fp32, {args.rounds} rounds of {args.steps - WARMUP} steps")
    print_times(times, notes)


if __name__ == "__main__":
    main()
