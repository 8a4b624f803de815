"""Makes docs/models.md from the sweep's results."""

import re

EXPORTERS = dict(dynamo="dynamo", dynamic="dynamo, dynamic batch",
                 torchscript="TorchScript")
# Models with batch norm, exported without the options that keep the norms.
PLAIN_EXPORTERS = {f"plain_{key}": name for key, name in EXPORTERS.items()}
CHECKS = dict(sgd="SGD", adamw="AdamW", dp2pp2="dp 2 × pp 2", tp2="tp 2",
              dropout="dropout")

INTRODUCTION = """# Models that people export

`test/Models/sweep.py` writes this page (see [Testing.md](Testing.md)); do not edit it.

The sweep exports each model of `test/Models/zoo` as users do, in training mode by
default calls of `torch.onnx.export`: with the default exporter, dynamo, for the
batch of the example or a dynamic one, and with `dynamo=False`. It exports models with
batch norm by the README's lines, so that the norms are not folded away; a separate
table has the default calls for these. The models are small, with random weights and
their default dropout.

A file is accepted if dtc makes a training program of it. The program is right if, in
f64 and without dropout (`--dropout none`), the losses of three steps equal PyTorch's
to {tolerance:.0e}: under SGD and AdamW on one rank, under SGD with `--dp 2 --pp 2`
(two micro-batches, if there is no batch norm), and with `--tp 2` for models with
attention heads. If the model has dropout, the sweep also runs three steps with it.

If an exporter computes with parameters, and the file does not say how, no program can
train as PyTorch does. dtc then warns, and says how to export instead. The column
"warned" counts the files that differ with a warning. The columns after it count the
other accepted files. A warning is a false alarm if the program is right anyway; such
files count as right. {doubted} TorchScript files have a warning that names parameters
which dtc trains, as it should, and says that they may be buffers. A crash of dtc counts
as not accepted.
"""

PLAIN_INTRODUCTION = """
## Plain exports of models with batch norm

The sweep exports the {models} models with batch norm by the default calls, in training
mode as above: `torch.onnx.export(model, inputs, file)`. Dynamo merges a norm with the
convolution or linear layer before it, TorchScript with a convolution, and TorchScript
writes all other norms for inference. A merged norm is not in the file, so no program can
train it: dtc accepts the file, trains the model without these norms, and warns. The
README's lines keep them. A file counts as right if all losses of these runs equal PyTorch's.
"""


def is_accepted(checks):
    return not checks["sgd"].get("why", "").startswith("dtc")


def has_warning(checks):
    return "warning" in checks["sgd"]


def differs(checks):
    """Returns whether any losses differ from PyTorch's."""
    return not all(check["ok"] for check in checks.values()
                   if "deviation" in check)


def is_warned(checks):
    """Returns whether dtc warns that it trains differently from PyTorch, and does."""
    return has_warning(checks) and differs(checks)


def reason(text):
    """Returns the reason, without names of files and nodes, and without colours."""
    text = re.sub(r"\x1b\[\d+m", "", text)
    text = re.sub(r"^(dtc|program): ", "", text)
    text = re.sub(r"\S*/\S*\.onnx: ", "", text).split(" | ")
    text = text[1 if len(text) > 1 and "prevent the import" in text[0] else 0]
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
    if exporter not in result:
        return "not run"
    checks = result[exporter]
    if not is_accepted(checks):
        crashed = checks["sgd"]["why"].startswith("dtc: crashes")
        return ("crash" if crashed else "refused") + notes.mark(
            checks["sgd"]["why"])
    bad = {name: check for name, check in checks.items() if not check["ok"]}
    warned = ""
    if has_warning(checks):
        warned = ", with a warning" + notes.mark(checks["sgd"]["warning"])
    if not bad:
        return "right" + warned
    if is_warned(checks):
        return "differs" + warned
    texts = []
    for name, check in bad.items():
        if "why" in check:
            texts.append(f"not {CHECKS[name]}" + notes.mark(check["why"]))
        else:
            texts.append(f"**{CHECKS[name]} off by "
                         f"{check['deviation']:.0e}**")
    return ", ".join(texts) + warned


def files_of(results, exporters):
    """Returns the checks of these exporters' files, and of those that dtc accepts."""
    files = [result[e] for result in results.values() for e in exporters
             if e in result]
    return files, [checks for checks in files if is_accepted(checks)]


def totals(results, exporters):
    """Returns a row of figures over these exporters' files."""
    files, accepted = files_of(results, exporters)
    trained = [checks for checks in accepted if not is_warned(checks)]

    def share(check):
        found = [checks[check]["ok"] for checks in trained if check in checks]
        return f"{sum(found)} of {len(found)}"
    percent = 100 * len(accepted) // max(len(files), 1)
    return [str(len(files)), f"{len(accepted)} ({percent} %)",
            str(len(accepted) - len(trained)), *map(share, CHECKS),
            str(sum(map(has_warning, trained)))]


def plain_totals(results, exporters):
    """Returns the row for plain exports, which lose batch norms."""
    files, accepted = files_of(results, exporters)
    counts = [sum(has_warning(checks) == warned and differs(checks) == wrong
                  for checks in accepted)
              for wrong, warned in ((True, True), (True, False),
                                    (False, True), (False, False))]
    return list(map(str, [len(files), len(files) - len(accepted),
                          len(accepted), *counts]))


def write_row(lines, cells):
    lines.append("| " + " | ".join(cells) + " |")


def write_header(lines, cells):
    write_row(lines, cells)
    lines.append("|" + "---|" * len(cells))


def write_plain(lines, results):
    """Writes the table of default exports of models with batch norm."""
    results = {n: r for n, r in results.items() if r["batch_norm"]}
    lines.append(PLAIN_INTRODUCTION.format(models=len(results)))
    write_header(lines, ["exporter", "exported", "refused", "accepted",
                         "differ, with a warning", "differ, without one",
                         "right, with a warning", "right, without one"])
    for exporter, name in PLAIN_EXPORTERS.items():
        write_row(lines, [name, *plain_totals(results, [exporter])])
    write_row(lines, ["all", *plain_totals(results, PLAIN_EXPORTERS)])


def write_table(results, names, tolerance, path):
    """Lists the models that have results."""
    missing = sorted(set(names) - set(results))
    broken = {n: r for n, r in results.items() if "error" in r}
    results = {n: r for n, r in sorted(results.items()) if n not in broken}
    doubted = sum("may be buffers" in checks["sgd"].get("warning", "")
                  and not differs(checks)
                  for checks in files_of(results, ["torchscript"])[1])
    lines = [INTRODUCTION.format(tolerance=tolerance, doubted=doubted)]
    if missing:
        lines += [f"{len(missing)} of {len(names)} models are not in the tables, "
                  f"because this run did not reach them: {', '.join(missing)}.", ""]
    write_header(lines, ["exporter", "exported", "accepted", "warned",
                         *(f"right: {name}" if key != "dropout" else
                           "dropout runs" for key, name in CHECKS.items()),
                         "false alarms"])
    for exporter, name in EXPORTERS.items():
        write_row(lines, [name, *totals(results, [exporter])])
    write_row(lines, ["all", *totals(results, EXPORTERS)])
    write_plain(lines, results)
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
