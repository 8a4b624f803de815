"""usage: check-scaling.py TABLE PLANS PICTURE: checks the formulas of dtc scale's strong scaling, and that rows agree with dtc compare.

TABLE is of plain data parallelism and one other plan, with or without measured rows. PLANS is dtc compare's table of the same plans,
whose options begin with --dp. PICTURE is the SVG.
"""
import re
import sys
import xml.etree.ElementTree as ElementTree

UNITS = {"s": 1, "ms": 1e-3, "us": 1e-6}
TIME = r"([0-9.]+) (s|ms|us)"


def seconds(number, unit):
    return float(number) * UNITS[unit]


def close(a, b):
    return abs(a - b) <= 0.012 * abs(b)  # of three digits each


rows, reasons = {}, []
for line in open(sys.argv[1]).read().splitlines()[1:]:
    match = re.match(r"(.+?) +(\d+) +(\S+) +(\S+) +(-|[0-9.]+ [KMG]?i?B) +" + TIME + " +" + TIME + r" +([0-9.]+) +([0-9.]+) %$", line)
    if not match:
        reasons.append(line)
        continue
    name, ranks, dp, batch, memory = match.groups()[:5]
    rows[name, int(ranks)] = dict(dp=dp, batch=batch, memory=memory, step=seconds(*match.groups()[5:7]),
                                  step_text=" ".join(match.groups()[5:7]), ideal=seconds(*match.groups()[7:9]),
                                  speed_up=float(match.group(10)), efficiency=float(match.group(11)) / 100)

first = min((ranks, row["step"]) for (name, ranks), row in rows.items() if name != "measured")
for (name, ranks), row in rows.items():
    count, step = first
    if name == "measured":
        count, step = min((r, other["step"]) for (n, r), other in rows.items() if n == name)
    assert close(row["ideal"], step * count / ranks), (name, ranks, row)
    speed_up = count * step / row["step"]
    assert abs(row["speed_up"] - speed_up) < 0.006 + 0.012 * speed_up, (name, ranks, row)
    assert abs(row["efficiency"] - speed_up / ranks) < 0.0006 + 0.012 * speed_up / ranks, (name, ranks, row)

# The table of compare: plan, memory, step.
compared = 0
for line in open(sys.argv[2]).read().splitlines()[1:]:
    match = re.match(r"--dp (\d+) ?(.*?) +([0-9.]+ [KMG]?i?B) +([0-9.]+ [mu]?s) ", line)
    dp, name = match.group(1), match.group(2) or "data parallel"
    row = next(row for (n, _), row in rows.items() if n == name and row["dp"] == dp)
    assert (row["memory"], row["step_text"]) == match.group(3, 4), (line, row)
    compared += 1
assert compared == sum(name != "measured" for name, _ in rows), (compared, rows.keys())

svg = ElementTree.parse(sys.argv[3]).getroot()
space = "{http://www.w3.org/2000/svg}"
assert svg.tag == space + "svg"
texts = [text.text for text in svg.iter(space + "text")]
for label in ["ranks", "speed-up", "efficiency, %"] + [name for name, _ in rows]:
    assert label in texts, (label, texts)
assert any(text.startswith("step time, ") for text in texts), texts
marks = [title.text for title in svg.iter(space + "title")]
assert len(marks) == 3 * len(rows), (len(marks), len(rows))
# The ideal of each plot is there, and nothing leaves the plots.
dashed = [path.get("d") for path in svg.iter(space + "path") if path.get("stroke-dasharray")]
assert len(dashed) > 3 and len(dashed) == len(set(dashed)), dashed
lines = [line.get("points") for line in svg.iter(space + "polyline")]
assert len(lines) == 3 * len({name for name, _ in rows}), lines
for line in lines + dashed[:-1]:  # the last is the legend's
    pixels = [float(number) for number in re.findall(r"[0-9.]+", line)]
    for x, y in zip(pixels[::2], pixels[1::2]):
        assert 0 < x < float(svg.get("width")) and 59.9 < y < 320.1, line
print("rows:", len(rows), "reasons:", len(reasons))
