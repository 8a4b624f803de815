"""PyTorch's losses, gradients and weights of a model, the tests' reference."""

import copy
import json

import numpy as np
import torch
from safetensors.torch import save_file

from models import round_constants

STEPS = 20
BATCH = 32
GRADIENT_STEPS = (1, 2)
WEIGHT_STEP = 5
ADAMW = dict(lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01)


def splitmix64(count):
    """The first `count` outputs of splitmix64 with seed 0 as reals in
    [-1, 1): 53 bits of each, scaled. Any language can compute it."""
    with np.errstate(over="ignore"):
        z = np.arange(1, count + 1, dtype=np.uint64) * \
            np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
    return (z >> np.uint64(11)).astype(np.float64) * 2.0**-52 - 1.0


def fingerprint(tensor):
    """Three numbers that tell tensors apart: sum, Euclidean norm, and dot
    product with splitmix64's vector, over the elements in row-major order."""
    values = tensor.double().flatten().numpy()
    return dict(sum=float(values.sum()), norm=float(np.linalg.norm(values)),
                dot=float(values @ splitmix64(len(values))))


def statistics_of(module):
    """The buffers that are saved with the weights, by name: running statistics of
    batch norms, and biases of routers."""
    return {name: buffer for name, buffer in module.named_buffers()
            if name.endswith((".running_mean", ".running_var",
                              ".e_score_correction_bias"))}


def split(inputs, labels, microbatches):
    return zip(inputs.chunk(microbatches), labels.chunk(microbatches))


def backward(model, module, inputs, labels, microbatches):
    """The loss of a batch, with gradients in the parameters. Each micro-batch
    has batch norms of its own; what they move the running statistics by is the
    mean over micro-batches, once."""
    start = {n: s.clone() for n, s in statistics_of(module).items()}
    sums = {n: torch.zeros_like(s) for n, s in start.items()}
    total = 0
    for rows in split(inputs, labels, microbatches):
        for name, statistic in statistics_of(module).items():
            statistic.copy_(start[name])
        loss = model.compute_loss(module, *rows) / microbatches
        loss.backward()
        total += loss.item()
        for name, statistic in statistics_of(module).items():
            sums[name] += statistic
    for name, statistic in statistics_of(module).items():
        statistic.copy_(sums[name] / microbatches)
    return total


def gradients_of(module):
    return {name: parameter.grad.detach().clone()
            for name, parameter in module.named_parameters()}


def global_norm(tensors):
    return sum(float(t.double().norm())**2 for t in tensors.values())**0.5


def train(model, dtype, make_optimizer, microbatches):
    """Runs STEPS steps from the model's weights. Returns losses and gradient
    norms, gradients of GRADIENT_STEPS and weights after WEIGHT_STEP, with the
    running statistics of batch norms."""
    module = copy.deepcopy(model.module).to(dtype)
    optimizer = make_optimizer(module.parameters())
    run = dict(loss=[], grad_norm=[])
    gradients, weights = {}, {}
    for step in range(1, STEPS + 1):
        inputs, labels = model.batch(step - 1, BATCH, dtype)
        optimizer.zero_grad()
        loss = backward(model, module, inputs, labels, microbatches)
        grads = gradients_of(module)
        run["loss"].append(loss)
        run["grad_norm"].append(global_norm(grads))
        if step in GRADIENT_STEPS:
            gradients[step] = grads
        optimizer.step()
        if step == WEIGHT_STEP:
            weights = {name: tensor.detach().clone() for name, tensor in
                       [*module.named_parameters(remove_duplicate=False),
                        *statistics_of(module).items()]}
    return run, gradients, weights


def check_against_finite_differences(model, gradients, microbatches):
    """Stops unless the f64 gradients of step 1 agree with central differences
    of the loss along a random direction."""
    module = copy.deepcopy(model.module).double()
    inputs, labels = model.batch(0, BATCH, torch.float64)
    torch.manual_seed(3)
    directions = {n: torch.randn_like(p) for n, p in module.named_parameters()}
    expected = sum(float((gradients[n] * d).sum())
                   for n, d in directions.items())
    delta, losses = 1e-7, []
    with torch.no_grad():
        for sign in (1, -2):
            for name, parameter in module.named_parameters():
                parameter += sign * delta * directions[name]
            losses.append(float(np.mean([
                model.compute_loss(module, *rows)
                for rows in split(inputs, labels, microbatches)])))
    found = (losses[0] - losses[1]) / (2 * delta)
    error = abs(found - expected) / abs(expected)
    print(f"{model.name}: finite differences agree to {error:.1e}")
    if error > 1e-6:
        raise SystemExit(f"{model.name}: f64 gradients are wrong: {found} by "
                         f"finite differences, {expected} by autograd")


def relative_errors(found, expected):
    """Per tensor and over all of them, |found - expected| / |expected| in the
    Euclidean norm."""
    difference = {n: found[n].double() - expected[n] for n in expected}
    tensors = {n: float(difference[n].norm() / expected[n].norm())
               for n in expected}
    return dict(tensors=tensors,
                all=global_norm(difference) / global_norm(expected))


def write_reference(model, directory, stored, microbatches=1):
    """Writes NAME.losses.json and the f64 gradients and weights for which
    `stored(name, tensor)` holds; the others have their fingerprints only. Of
    several micro-batches NAME is the model's with -microN."""
    file = model.name + (f"-micro{microbatches}" if microbatches > 1 else "")
    round_constants(model.module)
    optimizers = dict(
        sgd=(dict(lr=model.sgd_lr),
             lambda p: torch.optim.SGD(p, lr=model.sgd_lr)),
        adamw=(ADAMW, lambda p: torch.optim.AdamW(p, **ADAMW)))
    report = dict(model=model.name, loss=model.loss, batch=BATCH,
                  torch=torch.__version__)
    first_gradients = {}
    for name, (options, make) in optimizers.items():
        report[name] = dict(options=options)
        for key, dtype in (("f64", torch.float64), ("f32", torch.float32)):
            run, gradients, weights = train(model, dtype, make,
                                            microbatches)
            report[name][key] = run
            if name == "sgd":
                first_gradients[key] = gradients[1]
            if (name, key) == ("sgd", "f64"):
                expected, final = gradients, weights
    check_against_finite_differences(model, expected[1], microbatches)
    report["f32_gradient_error"] = relative_errors(first_gradients["f32"],
                                                   first_gradients["f64"])
    flat = {f"step{step}/{name}": tensor for step, tensors in expected.items()
            for name, tensor in tensors.items()}
    report["gradients"] = {n: fingerprint(t) for n, t in flat.items()}
    report["weights"] = {n: fingerprint(t) for n, t in final.items()}

    (directory / f"{file}.losses.json").write_text(
        json.dumps(report, indent=1) + "\n")
    for kind, tensors in (("gradients", flat), ("weights", final)):
        path = directory / f"{file}.{kind}-f64.safetensors"
        save_file({n: t for n, t in tensors.items() if stored(n, t)}, path)
        path.chmod(0o644)
