"""The peers of compare.py. Each runs in a separate process, which prints the
seconds of its steps as a line of JSON:

    peers.py KIND WORKLOAD STEPS THREADS

KIND: installed (PyTorch eager), tuned (channels last, fused AdamW), compiled
(torch.compile of the tuned one), jax (jit). With RANK and WORLD_SIZE, a PyTorch
peer is one rank of DDP over gloo.
"""

import json
import os
import sys
import time

from workloads import WORKLOADS


def time_steps(steps, step):
    """Times calls of `step`, which runs one training step to its end."""
    seconds = []
    for _ in range(steps):
        start = time.perf_counter()
        step()
        seconds.append(time.perf_counter() - start)
    return seconds


def torch_step(work, kind):
    import torch
    ranks = int(os.environ.get("WORLD_SIZE", 1))
    torch.manual_seed(0)
    model = work.module().train()
    x = work.inputs(work.batch // ranks)
    labels = work.labels(work.batch // ranks).flatten()
    if kind != "installed" and x.dim() == 4:
        x = x.contiguous(memory_format=torch.channels_last)
        model = model.to(memory_format=torch.channels_last)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4,
                                  fused=True if kind != "installed" else None)
    if ranks > 1:
        torch.distributed.init_process_group("gloo")
        model = torch.nn.parallel.DistributedDataParallel(
            model, gradient_as_bucket_view=kind != "installed")
    if kind == "compiled":
        model = torch.compile(model)

    def step():
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x).flatten(0, -2),
                                                 labels)
        loss.backward()
        optimizer.step()
        loss.item()

    return step


def jax_step(work):
    import jax
    import jax.numpy as jnp
    pairs = list(zip(work.widths, work.widths[1:]))
    keys = jax.random.split(jax.random.PRNGKey(0), len(pairs) + 1)
    weights = [(jax.random.normal(key, pair) / pair[0] ** 0.5,
                jnp.zeros(pair[1])) for key, pair in zip(keys, pairs)]
    zeros = jax.tree.map(jnp.zeros_like, weights)
    state = [weights, zeros, jax.tree.map(jnp.zeros_like, weights), 0]
    x = jax.random.normal(keys[-1], (work.batch, work.widths[0]))
    y = jnp.arange(work.batch) % work.widths[-1]

    def loss_of(weights):
        h = x
        for i, (w, b) in enumerate(weights):
            h = h @ w + b
            if i + 1 < len(weights):
                h = jax.nn.relu(h)
        return -jnp.mean(jax.nn.log_softmax(h)[jnp.arange(work.batch), y])

    def adamw(weights, m, v, count):
        loss, g = jax.value_and_grad(loss_of)(weights)
        count += 1
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, g)
        v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, v, g)
        weights = jax.tree.map(
            lambda w, m, v: w * (1 - 1e-6) - 1e-4 * (m / (1 - 0.9 ** count)) /
            (jnp.sqrt(v / (1 - 0.999 ** count)) + 1e-8), weights, m, v)
        return weights, m, v, count, loss

    donating = jax.jit(adamw, donate_argnums=(0, 1, 2))

    def step():
        *state[:], loss = donating(*state)
        loss.block_until_ready()

    return step


def main():
    kind, name, steps, threads = sys.argv[1:]
    work = WORKLOADS[name]
    if kind == "jax":
        import jax as library
        step = jax_step(work)
    else:
        import torch as library
        library.set_num_threads(int(threads))
        step = torch_step(work, kind)
    seconds = time_steps(int(steps), step)
    print(json.dumps(dict(seconds=seconds, version=library.__version__)))


main()
