"""Writes the folder third-party beside this file: models that others trained and
published, which no exporter of today wrote.

usage: make_third_party.py MODELS

MODELS holds NAME/model.onnx with test_data_set_0/input_0.pb and output_0.pb, as
ONNX's own tests do; where the models come from is in third-party/README.md.

Of each model: NAME.onnx; NAME.data/input.npy; above.npy, the output that ONNX
Runtime computed and 0.5 to 1.5 more; target.npy, random; and in third-party.json losses and norms that onnx2torch
and PyTorch compute in f64: `forward`, of the distance to above.npy with the
running statistics of batch norms, and `train`, of three SGD steps. Needs the packages of
bench/requirements.txt.
"""

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from onnx2torch import convert

FOLDER = Path(__file__).parent / "third-party"
NAMES = "ppocr_v2_cls", "wakeword_mlp"
STEPS = 3


def hoist_constants(model):
    """Weights in Constant nodes, as Paddle has them, become initializers."""
    for node in list(model.graph.node):
        if node.op_type == "Constant":
            tensor = node.attribute[0].t
            tensor.name = node.output[0]
            model.graph.initializer.append(tensor)
            model.graph.node.remove(node)


def make_module(model):
    """With vectors that are added and multiplied as parameters too."""
    module = convert(model).double()
    names = {numpy_helper.to_array(tensor).tobytes(): tensor.name
             for tensor in model.graph.initializer}
    for path, buffer in list(module.named_buffers()):
        name = names.get(buffer.float().numpy().tobytes(), "")
        is_weight = buffer.numel() > 1 or name.endswith("_offset")
        if not buffer.is_floating_point() or "running" in path or not is_weight:
            continue
        *owners, leaf = path.split(".")
        owner = module
        for part in owners:
            owner = getattr(owner, part)
        del owner._buffers[leaf]
        owner.register_parameter(leaf, torch.nn.Parameter(buffer.clone()))
    return module


def run(module, inputs, targets, steps):
    optimizer = torch.optim.SGD(module.parameters(), lr=0.01)
    report = dict(loss=[], grad_norm=[])
    for _ in range(steps):
        optimizer.zero_grad()
        difference = (module(torch.from_numpy(inputs).double()) -
                      torch.from_numpy(targets).double())
        loss = (difference ** 2).mean()
        loss.backward()
        report["loss"].append(loss.item())
        report["grad_norm"].append(float(sum(
            p.grad.norm() ** 2 for p in module.parameters()) ** 0.5))
        if steps > 1:
            optimizer.step()
    return report


def main(models):
    FOLDER.mkdir(exist_ok=True)
    report = {}
    for name in NAMES:
        source = Path(models) / name
        data = FOLDER / f"{name}.data"
        data.mkdir(exist_ok=True)
        shutil.copyfile(source / "model.onnx", FOLDER / f"{name}.onnx")
        inputs, outputs = (
            numpy_helper.to_array(onnx.load_tensor(
                source / "test_data_set_0" / f"{kind}_0.pb"))
            for kind in ("input", "output"))
        targets = np.random.default_rng(0).random(outputs.shape, np.float32)
        np.save(data / "input.npy", inputs)
        distances = np.linspace(0.5, 1.5, outputs.size, dtype=np.float32)
        above = outputs + distances.reshape(outputs.shape)
        np.save(data / "above.npy", above)
        np.save(data / "target.npy", targets)
        model = onnx.load(source / "model.onnx")
        hoist_constants(model)
        module = make_module(model)
        report[name] = dict(
            forward=run(module.eval(), inputs, above, 1),
            train=run(module.train(), inputs, targets, STEPS))
        # The loss of ONNX Runtime's output.
        report[name]["forward"]["loss"] = [float((distances ** 2).mean())]
    (FOLDER / "third-party.json").write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
