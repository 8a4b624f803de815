"""Exports a PyTorch model for training with dtc, so that nothing is lost.

    from export import export
    export(model, {"input_ids": ids}, "model.onnx")

The model is exported as it trains: in training mode, with a batch of any size,
no weight merged, transposed, folded or left out. The file says which tensors
are parameters, which of these are trained (requires_grad), which are tied, and
which are buffers. Needs PyTorch and what torch.onnx.export needs (onnx,
onnxscript).
"""

import json
import logging

import torch


def describe_tensors(model):
    """What dtc reads under "dtc.tensors" in the file's metadata."""
    ties = {}
    for name, parameter in model.named_parameters(remove_duplicate=False):
        ties.setdefault(id(parameter), []).append(name)
    saved = model.state_dict(keep_vars=True)
    return dict(
        parameters={name: dict(trained=parameter.requires_grad) for
                    name, parameter in model.named_parameters()},
        buffers={name: dict(persistent=name in saved) for
                 name, buffer in model.named_buffers()},
        ties=[names for names in ties.values() if len(names) > 1])


def dynamic_batch(value):
    """The first dimension of every tensor may have any size."""
    if isinstance(value, torch.Tensor):
        return {0: torch.export.Dim.AUTO} if value.dim() else None
    return None


def simplify(model, names):
    """Computes what depends on constants alone. Tensors of the state dict are
    inputs meanwhile, so that none is taken for a constant."""
    from onnxscript import optimizer
    graph = model.graph
    tensors = {}
    for name in names:
        if name in graph.initializers:
            value = graph.initializers.pop(name)
            tensors[name] = value, value.const_value
            value.const_value = None
            graph.inputs.append(value)
    optimizer.optimize_ir(model)
    for name, (value, data) in tensors.items():
        graph.inputs.remove(value)
        value.const_value = data
        if value.uses():
            graph.initializers[name] = value


def export(model, inputs, path):
    """Writes `model` to the ONNX file `path`. `inputs` is a dict of the
    arguments of forward by name, or a tuple of them; of tensors the first
    dimension is the batch, with two samples or more."""
    if isinstance(inputs, torch.Tensor):
        inputs = (inputs,)
    was_training = model.training
    buffers = {name: buffer.clone() for name, buffer in model.named_buffers()}
    logging.getLogger("torch.onnx").setLevel(logging.ERROR)
    model.train()
    try:
        if isinstance(inputs, dict):
            call = dict(args=(), kwargs=inputs, dynamic_shapes={
                name: dynamic_batch(value) for name, value in inputs.items()})
        else:
            call = dict(args=tuple(inputs), dynamic_shapes=tuple(
                dynamic_batch(value) for value in inputs))
        program = torch.onnx.export(model, **call, dynamo=True, optimize=False,
                                    verbose=False)
    finally:
        model.train(was_training)
        for name, buffer in model.named_buffers():
            buffer.copy_(buffers[name])  # of batch norms, which tracing moves
    tensors = describe_tensors(model)
    names = set(model.state_dict(keep_vars=True)) | set(tensors["buffers"])
    simplify(program.model, names)
    program.model.metadata_props["dtc.tensors"] = json.dumps(tensors)
    program.save(path)
