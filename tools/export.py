"""Exports a PyTorch model for training with dtc, without loss of information.

    from export import export
    export(model, {"input_ids": ids}, "model.onnx")

The export is in training mode, for a batch of any size. It does not merge,
transpose, fold or omit a weight. The file records parameters, trained parameters
(requires_grad), ties, buffers, and the places where gradients stop (detach,
no_grad). Needs PyTorch and the requirements of torch.onnx.export (onnx, onnxscript).
"""

import contextlib
import json
import logging
import warnings
from unittest import mock

import torch


def describe_tensors(model):
    """Returns the entry "dtc.tensors" of the file's metadata, which dtc reads."""
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
    """Lets the first dimension of every tensor have any size."""
    if isinstance(value, torch.Tensor):
        return {0: torch.export.Dim.AUTO} if value.dim() else None
    return None


def read_own(program, model):
    """Replaces constants by parameters and buffers. torch.export takes tensors that
    the model keeps in a dict or list for constants, even if they are in the state
    dict."""
    def place(tensor):
        return tensor.data_ptr(), tensor.shape, tensor.stride(), tensor.dtype
    own = {place(tensor): name for name, tensor in
           [*model.named_buffers(), *model.named_parameters()] if tensor.numel()}
    inputs = {node.name: node for node in program.graph.nodes
              if node.op == "placeholder"}
    specs = program.graph_signature.input_specs
    places = {spec.target: inputs[spec.arg.name] for spec in specs
              if spec.kind.name in ("PARAMETER", "BUFFER")}
    for spec in specs:
        tensor = program.constants.get(spec.target)
        if spec.kind.name == "CONSTANT_TENSOR" and torch.is_tensor(tensor):
            name = own.get(place(tensor))
            if name in places:
                inputs[spec.arg.name].replace_all_uses_with(places[name])


@contextlib.contextmanager
def set_up_hugging_face(model):
    """Adapts models of transformers to ONNX for the time of the export. It turns off
    use_cache, so that they do not return keys and values for generation. It makes
    them compute all experts of a token at once, because ONNX cannot express the
    choice of the machine."""
    modules = list(model.modules()) if isinstance(model, torch.nn.Module) else []
    configs = {id(module.config): module.config for module in modules
               if getattr(getattr(module, "config", None), "use_cache", False)}
    experts = [(module, module.get_experts_implementation()) for module in modules
               if getattr(module, "_can_set_experts_implementation", bool)()
               and hasattr(module, "get_experts_implementation")]
    try:
        for config in configs.values():
            config.use_cache = False
        for module, _ in experts:
            module.set_experts_implementation("batched_mm")
        yield
    finally:
        for config in configs.values():
            config.use_cache = True
        for module, before in experts:
            module.set_experts_implementation(before)


def capture(model, *args, export=torch.export.export, **options):
    """Calls torch.export.export and then detaches results of no_grad, because an
    ONNX file records only detach."""
    program = export(model, *args, **options)
    if isinstance(model, torch.nn.Module):
        read_own(program, model)
    for module in program.graph_module.modules():
        if not isinstance(module, torch.fx.GraphModule):
            continue
        for call in module.graph.nodes:
            if (call.target is not
                    torch.ops.higher_order.wrap_with_set_grad_enabled
                    or call.args[0]):
                continue
            for value in list(call.users):
                with module.graph.inserting_after(value):
                    detached = module.graph.call_function(
                        torch.ops.aten.detach.default, (value,))
                detached.meta.update(value.meta)
                value.replace_all_uses_with(detached, delete_user_cb=lambda user:
                                            user is not detached and
                                            user.op != "output")
        module.recompile()
    return program


def apply(function, *args, **options):
    """Calls torch.autograd.Function.apply, with a warning if a model uses it."""
    if not function.__module__.startswith("torch."):
        warnings.warn(
            f"{function.__qualname__} defines its own gradient, which an ONNX file "
            "cannot hold: dtc trains with the gradient of its forward function. "
            "If these differ, express the gradient with detach()", stacklevel=2)
    return super(torch.autograd.Function, function).apply(*args, **options)


def stop_gradients(model):
    """Replaces the Identity of each detach by dtc.StopGradient, which no optimizer
    removes. Returns whether there is one."""
    stops = [node for node in model.graph if node.op_type == "Identity" and
             "aten.detach" in node.metadata_props.get("pkg.torch.onnx.fx_node", "")]
    for node in stops:
        node.domain, node.op_type = "dtc", "StopGradient"
    return bool(stops)


def define_stop_gradient(model):
    """Defines dtc.StopGradient as an Identity, for all programs but dtc."""
    from onnxscript import ir
    x = ir.Value(name="x")
    identity = ir.node("Identity", [x])
    graph = ir.Graph([x], identity.outputs, nodes=[identity],
                     opset_imports=model.opset_imports)
    function = ir.Function("dtc", "StopGradient", graph=graph, attributes=[])
    model.functions[function.identifier()] = function
    model.opset_imports["dtc"] = 1


def separate_names(model, names):
    """Renames results of ops whose names are also in the state dict. The exporter
    names results after their ops (`mul`)."""
    values = [value for node in model.graph.all_nodes() for value in node.outputs]
    taken = set(names).union(
        model.graph.initializers,
        (value.name for value in [*model.graph.inputs, *values]))
    for value in values:
        if value.name in names:
            count = 1
            while f"{value.name}_{count}" in taken:
                count += 1
            value.name = f"{value.name}_{count}"
            taken.add(value.name)


def splits_unknown(node):
    """Returns whether the node splits a dimension of unknown size. The optimizer
    fails at such nodes."""
    if node.op_type != "SplitToSequence":
        return False
    axis, shape = node.attributes.get("axis"), node.inputs[0].shape
    return not shape or not isinstance(shape[axis.as_int() if axis else 0], int)


def simplify(model, names):
    """Folds values that depend on constants alone. Meanwhile tensors of the state
    dict are inputs, so that the optimizer does not take them for constants. It does
    not run the optimizer's rewriting, which is wrong for training: it drops `+ 1e-9`
    as if that were a zero."""
    from onnxscript import optimizer
    graph = model.graph
    tensors = {}
    for name in names:
        if name in graph.initializers:
            value = graph.initializers.pop(name)
            tensors[name] = value, value.const_value
            value.const_value = None
            graph.inputs.append(value)
    optimizer.inline(model)
    unknown = [node for node in graph.all_nodes() if splits_unknown(node)]
    for node in unknown:
        node.domain = "dtc.unknown"
    optimizer.fold_constants(
        model, onnx_shape_inference=True,
        should_fold=lambda node: False if node.op_type == "Dropout" else None)
    for node in unknown:
        node.domain = ""
    optimizer.remove_unused_nodes(model)
    for name, (value, data) in tensors.items():
        graph.inputs.remove(value)
        value.const_value = data
        if value.uses():
            graph.initializers[name] = value


def add_unused(graph, model, ties):
    """Adds tensors of the state dict that the graph does not read, except counts of
    batches, which would be wrong after training."""
    from onnx_ir.tensor_adapters import TorchTensor
    from onnxscript import ir
    used = set(graph.initializers)
    tied = {name for names in ties if used & set(names) for name in names}
    for name, tensor in model.state_dict().items():
        if (torch.is_tensor(tensor) and name not in used | tied and
                not name.endswith("num_batches_tracked")):
            data = TorchTensor(tensor.cpu().contiguous(), name=name)
            graph.register_initializer(ir.Value(
                name=name, const_value=data, shape=data.shape,
                type=ir.TensorType(data.dtype)))


def export(model, inputs, path, fixed_batch=False):
    """Writes `model` to the ONNX file `path`. `inputs` is a dict of the
    arguments of forward by name, or a tuple of them. The first dimension of each
    tensor is the batch, with two samples or more. The exported batch may have any
    size. `fixed_batch` keeps its size, for models that PyTorch can export only for
    one size."""
    if isinstance(inputs, torch.Tensor):
        inputs = (inputs,)
    was_training = model.training
    buffers = {name: buffer.clone() for name, buffer in model.named_buffers()}
    logging.getLogger("torch.onnx").setLevel(logging.ERROR)
    model.train()
    try:
        if isinstance(inputs, dict):
            call = dict(args=(), kwargs=inputs)
            shapes = {name: dynamic_batch(value) for name, value in
                      inputs.items()}
        else:
            call = dict(args=tuple(inputs))
            shapes = tuple(map(dynamic_batch, inputs))
        if not fixed_batch:
            call["dynamic_shapes"] = shapes
        with warnings.catch_warnings(), set_up_hugging_face(model), \
                mock.patch.object(torch.export, "export", capture), \
                mock.patch.object(torch.autograd.Function, "apply",
                                  classmethod(apply)):
            warnings.filterwarnings("ignore", "Exporting a model while it is in")
            program = torch.onnx.export(model, **call, dynamo=True,
                                        optimize=False, verbose=False)
    finally:
        model.train(was_training)
        for name, buffer in model.named_buffers():
            buffer.copy_(buffers[name])  # tracing changes those of batch norms
    tensors = describe_tensors(model)
    names = set(model.state_dict(keep_vars=True)) | set(tensors["buffers"])
    for value in program.model.graph.inputs:
        if value.name in names:
            raise ValueError(f"'{value.name}' is an argument of forward and a "
                             "tensor of the state dict; rename one of them")
    has_stops = stop_gradients(program.model)
    separate_names(program.model, names)
    simplify(program.model, names)
    add_unused(program.model.graph, model, tensors["ties"])
    if has_stops:
        define_stop_gradient(program.model)
    program.model.metadata_props["dtc.tensors"] = json.dumps(tensors)
    program.save(path)
