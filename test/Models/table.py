"""Makes docs/models.md of the sweep's results."""

import re

EXPORTERS = dict(dynamo="dynamo", dynamic="dynamo, dynamic batch",
                 torchscript="TorchScript")
CHECKS = dict(sgd="SGD", adamw="AdamW", dp2pp2="dp 2 × pp 2", tp2="tp 2",
              dropout="dropout")

INTRODUCTION = """# Models that people export

Written by `test/Models/sweep.py` (see [Testing.md](Testing.md)); do not edit.

Each model of `test/Models/zoo` is exported as its users do, in training mode by
default calls of `torch.onnx.export`: with the default exporter, dynamo, for the
batch of the example or a dynamic one, and with `dynamo=False`. Models with batch
norm are exported by the README's lines, so that the norms are not folded away.
The models are small, with random weights and their default dropout.

A file is accepted if dtc makes a training program of it. The program is right if,
in f64 and without dropout (`--dropout none`), the losses of three steps are those
of PyTorch to {tolerance:.0e}: under SGD and AdamW on one rank, under SGD with
`--dp 2 --pp 2` (two micro-batches, if there is no batch norm), and with `--tp 2` of
models with attention heads. Where the model has dropout, three steps with it run.
Where exporters compute with parameters, and nothing in the file says how, no program
can train as PyTorch does; dtc warns, and says what to export instead.
"""


def is_accepted(checks):
    return not checks["sgd"].get("why", "").startswith("dtc")


def is_warned(checks):
    """Whether dtc says that it trains something else than PyTorch, as it does."""
    return "warning" in checks["sgd"] and not all(
        check["ok"] for check in checks.values() if "deviation" in check)


def reason(text):
    """Why, without names of files and nodes, and colours."""
    text = re.sub(r"\x1b\[\d+m", "", text)
    text = re.sub(r"^(dtc|program): ", "", text)
    text = re.sub(r"\S*/\S*\.onnx: ", "", text).split(" | ")
    text = text[1 if len(text) > 1 and "stand in the way" in text[0] else 0]
    text = re.sub(r" \(node '[^']*'\)|node '[^']*': ", "", text.strip())
    text = re.sub(r"^(dtc: )?error: ", "", text)
    return text.split(": expected a model")[0].replace("|", "\\|")


class Notes:
    """Reasons, each with a number."""

    def __init__(self):
        self.numbers = {}

    def mark(self, text):
        number = self.numbers.setdefault(reason(text), len(self.numbers) + 1)
        return f" [{number}]"


def cell(result, exporter, notes):
    if exporter in result["not_exported"]:
        return "not exported" + notes.mark(
            "PyTorch: " + result["not_exported"][exporter])
    checks = result[exporter]
    if not is_accepted(checks):
        return "refused" + notes.mark(checks["sgd"]["why"])
    bad = {name: check for name, check in checks.items() if not check["ok"]}
    if not bad:
        return "right"
    if is_warned(checks):
        return "differs, with a warning" + notes.mark(checks["sgd"]["warning"])
    texts = []
    for name, check in bad.items():
        if "why" in check:
            texts.append(f"not {CHECKS[name]}" + notes.mark(check["why"]))
        else:
            texts.append(f"**{CHECKS[name]} off by "
                         f"{check['deviation']:.0e}**")
    return ", ".join(texts)


def totals(results, exporters):
    """A row of figures over these exporters' files."""
    files = [result[e] for result in results.values() for e in exporters
             if e in result]
    accepted = [checks for checks in files if is_accepted(checks)]

    trained = [checks for checks in accepted if not is_warned(checks)]

    def share(check):
        found = [checks[check]["ok"] for checks in trained if check in checks]
        return f"{sum(found)} of {len(found)}"
    percent = 100 * len(accepted) // max(len(files), 1)
    return [str(len(files)), f"{len(accepted)} ({percent} %)",
            str(len(accepted) - len(trained)), *map(share, CHECKS)]


def write_row(lines, cells):
    lines.append("| " + " | ".join(cells) + " |")


def write_header(lines, cells):
    write_row(lines, cells)
    lines.append("|" + "---|" * len(cells))


def write_table(results, tolerance, path):
    broken = {n: r for n, r in results.items() if "error" in r}
    results = {n: r for n, r in sorted(results.items()) if n not in broken}
    lines = [INTRODUCTION.format(tolerance=tolerance)]
    write_header(lines, ["exporter", "exported", "accepted", "warned",
                         *(f"right: {name}" if key != "dropout" else
                           "dropout runs" for key, name in CHECKS.items())])
    for exporter, name in EXPORTERS.items():
        write_row(lines, [name, *totals(results, [exporter])])
    write_row(lines, ["all", *totals(results, EXPORTERS)])
    notes = Notes()
    for family in sorted({name.split("/")[0] for name in results}):
        lines += ["", f"## {family.replace('_models', '').replace('_', ' ')}",
                  ""]
        write_header(lines, ["model", "parameters", *EXPORTERS.values()])
        for name, result in results.items():
            if name.startswith(family + "/"):
                write_row(lines, [name.split("/")[1],
                                  f"{result['parameters']:,}",
                                  *(cell(result, e, notes)
                                    for e in EXPORTERS)])
    lines += ["", "## Reasons", ""]
    lines += [f"{number}. {text}" for text, number in notes.numbers.items()]
    if broken:
        lines += ["", "PyTorch itself failed on: " + ", ".join(sorted(broken))]
    path.write_text("\n".join(lines) + "\n")
