#!/usr/bin/env python3
"""Which folder may include which.

usage: layers.py [--figure compiler|runtime] [--plant FILE=HEADER]...

Reads what all sources include and what the compiler's libraries link. Prints a
line for each arrow that the table below does not allow, for each that it allows
and nothing needs, for each folder that it lacks, and for each circle of folders
of one library. Exits with 1 if there is any.

--figure prints the arrows as a matrix. --plant reads the sources as if FILE included HEADER.
"""

import argparse
import collections
import pathlib
import re
import sys

# A row for each folder, in the order of the phases: the folder, and the folders
# above it that it may include.
TABLE = """
ABI
Support        | ABI
Dialect        | Support

Frontend/Interface
Frontend/Support     | Support
Frontend/File        | Support Frontend/Support
Frontend/Exporters   | Support Frontend/Interface Frontend/Support Frontend/File
Frontend/Shapes      | Support Frontend/Interface Frontend/Support Frontend/File
Frontend/Evaluate    | Frontend/Support Frontend/Shapes
Frontend/Ops         | Support Dialect Frontend/Interface Frontend/Support Frontend/File Frontend/Shapes
Frontend/Parameters  | Support Frontend/Interface Frontend/Support Frontend/File Frontend/Exporters Frontend/Ops
Frontend/ControlFlow | Frontend/Support Frontend/File Frontend/Shapes Frontend/Ops
Frontend/Nodes       | Dialect Frontend/Interface Frontend/Support Frontend/File Frontend/Shapes Frontend/Evaluate Frontend/Ops Frontend/Parameters Frontend/ControlFlow
Frontend             | Support Frontend/Interface Frontend/Support Frontend/File Frontend/Exporters Frontend/Shapes Frontend/Parameters Frontend/Nodes

Options        | ABI Support
Propagation    | Support Dialect
Strategy       | Support Dialect Options Propagation
Training       | Support Dialect Options Strategy
Parallel       | Support Dialect Propagation
Plan           | ABI Support Dialect
Memory         | Dialect Plan
Communication  | ABI Support Plan Memory
Schedule       | ABI Support Dialect Options Plan Memory
Report         | Support Dialect Plan Memory Schedule
Lowering       | ABI Support Dialect Training Plan Memory Communication
Target         | ABI Support Dialect Options Plan Memory Lowering
Pipelines      | Dialect Frontend/Interface Options Propagation Strategy Training Parallel Plan Memory Communication Schedule Report Lowering Target
Driver         | ABI Support Dialect Frontend/Interface Options Training Schedule Report Lowering Target Pipelines

Runtime/Core                   | ABI Support
Runtime/Device/CPU/Gemm        | 
Runtime/Program                | ABI Support Runtime/Core
Runtime/Options                | Runtime/Core Runtime/Program
Runtime/System                 | Support Runtime/Core
Runtime/Device                 | ABI Runtime/Core Runtime/Program Runtime/System
Runtime/Device/CPU/MatMul      | ABI Runtime/Core Runtime/Device/CPU/Gemm Runtime/Options Runtime/System Runtime/Device
Runtime/Device/CPU/Compression | ABI Runtime/System
Runtime/Device/CPU/Convolution | ABI Runtime/Core Runtime/Device/CPU/Gemm Runtime/System Runtime/Device/CPU/MatMul
Runtime/Device/CPU/Narrow      | Runtime/Core Runtime/System Runtime/Device/CPU/MatMul Runtime/Device/CPU/Convolution
Runtime/Device/CPU/Attention   | Runtime/Core Runtime/Device/CPU/Narrow
Runtime/Device/CPU/Grouped     | ABI Runtime/Core Runtime/System Runtime/Device/CPU/MatMul Runtime/Device/CPU/Narrow
Runtime/Device/CPU             | Runtime/Core Runtime/System Runtime/Device Runtime/Device/CPU/MatMul Runtime/Device/CPU/Narrow Runtime/Device/CPU/Attention Runtime/Device/CPU/Grouped
Runtime/Device/CUDA            | ABI Runtime/Core Runtime/Program Runtime/System Runtime/Device
Runtime/Calls/CUDA             | Runtime/Core Runtime/Program Runtime/Device Runtime/Device/CUDA
Runtime/Launch                 | Runtime/Core Runtime/Program Runtime/Options Runtime/System
Runtime/Collectives            | ABI Support Runtime/Core Runtime/Program Runtime/System Runtime/Device Runtime/Launch
Runtime/Agreement              | Runtime/Core Runtime/Options Runtime/Collectives
Runtime/Calls/CPU              | Runtime/Core Runtime/Program Runtime/Device Runtime/Device/CPU/Compression Runtime/Device/CPU/Convolution Runtime/Device/CPU/Grouped Runtime/Device/CPU Runtime/Collectives
Runtime/Checkpoint             | Runtime/Core Runtime/Program Runtime/Options Runtime/System Runtime/Device Runtime/Collectives Runtime/Agreement
Runtime/Collectives/NCCL       | ABI Runtime/Core Runtime/Program Runtime/System Runtime/Device Runtime/Device/CUDA Runtime/Collectives
Runtime/Data                   | Support Runtime/Core Runtime/Program Runtime/System Runtime/Device Runtime/Agreement
Runtime/Metrics                | Support Runtime/Core Runtime/Program Runtime/Options Runtime/System Runtime/Device Runtime/Collectives
Runtime/Target                 | Runtime/Core Runtime/Options Runtime/System Runtime/Device Runtime/Device/CPU Runtime/Device/CUDA Runtime/Launch Runtime/Collectives Runtime/Agreement Runtime/Collectives/NCCL
Runtime/CommandLine            | Support Runtime/Core Runtime/Program Runtime/Options Runtime/Device Runtime/Data Runtime/Target
Runtime/Server                 | Runtime/Core Runtime/Program Runtime/Options Runtime/System Runtime/Device Runtime/Launch Runtime/Collectives Runtime/Checkpoint Runtime/Metrics
Runtime/Training               | Runtime/Server Runtime/Core Runtime/Program Runtime/Options Runtime/System Runtime/Device Runtime/Launch Runtime/Collectives Runtime/Agreement Runtime/Checkpoint Runtime/Data Runtime/Metrics
Runtime/Calls                  | ABI Runtime/Core Runtime/Program Runtime/Device Runtime/Collectives Runtime/Metrics Runtime/Training
Runtime/Main                   | ABI Runtime/Core Runtime/Program Runtime/Options Runtime/System Runtime/Device Runtime/Launch Runtime/Collectives Runtime/Agreement Runtime/Metrics Runtime/Target Runtime/CommandLine Runtime/Training
"""

# Files of a row that are not in lib/ROW or include/dtc/ROW.
PLACES = {
    "ABI": ["include/dtc/Runtime"],
    "Frontend": ["python-free-frontend"],
    "Frontend/Interface": ["include/dtc/Frontend"],
    **{f"Frontend/{room}": [f"python-free-frontend/{room}"]
       for room in ("Support", "File", "Exporters", "Shapes", "Evaluate", "Ops",
                    "Parameters", "ControlFlow", "Nodes")},
}

# Libraries that are not called after their row.
ROWS_OF_LIBRARIES = {"DTCFrontend": "Frontend/Interface", "DTCTargets": "Target",
                     "DTCTargetCPU": "Target", "DTCTargetCUDA": "Target"}

ROOT = pathlib.Path(__file__).resolve().parent.parent


def read_table():
    """The rows in order, each with the rows above it that it may include."""
    allowed = {}
    for line in filter(None, TABLE.splitlines()):
        row, _, names = (part.strip() for part in line.partition("|"))
        allowed[row] = set(names.split())
        if below := allowed[row] - allowed.keys():
            sys.exit(f"layers.py: table: {row} may include only rows above it, found {' '.join(below)}")
    return allowed


def find_row(path, places):
    """The row that a file belongs to: that of the longest place that it lies in."""
    found = [(len(place), row) for place, row in places if path == place or path.startswith(place + "/")]
    return max(found)[1] if found else None


def resolve(path, included, files):
    """The file of the repository that an include is; None for one of another project."""
    if included.startswith("dtc/"):
        return "include/" + included  # which TableGen may write
    for folder in pathlib.PurePosixPath(path).parents:
        candidate = str(folder / included)
        if candidate in files:
            return candidate
    return None


def read_includes(planted):
    """Pairs of a file and one that it includes."""
    folders = ["lib", "include", "python-free-frontend"]
    paths = [path for folder in folders for path in (ROOT / folder).rglob("*.*")]
    texts = {str(path.relative_to(ROOT)): path.read_text()
             for path in paths if path.suffix in (".h", ".cpp", ".td")}
    for path, text in texts.items():
        for included in re.findall(r'^#?include\s+"(.*)"', text, re.M):
            if target := resolve(path, included, texts):
                yield path, target
    yield from planted


def read_links():
    """Pairs of a list of CMake and a row that its library links."""
    for path in (ROOT / "lib").rglob("CMakeLists.txt"):
        for names in re.findall(r"^\s*(?:dtc_add_library\(.*)?\bLINK (DTC[^)]*)\)", path.read_text(), re.M):
            for name in names.split():
                yield str(path.relative_to(ROOT)), ROWS_OF_LIBRARIES.get(name, name.removeprefix("DTC"))


def find_circle(arrows):
    """Folders each of which includes the next, and the last the first."""
    done = set()

    def visit(folder, way):
        if folder in way:
            return way[way.index(folder):] + [folder]
        if folder not in done:
            for other in sorted(arrows.get(folder, ())):
                if circle := visit(other, way + [folder]):
                    return circle
        done.add(folder)
        return None

    return next(filter(None, (visit(folder, []) for folder in sorted(arrows))), None)


def print_figure(kind, rows, arrows):
    """A matrix: a row includes the columns that are marked. The compiler's folders are whole."""
    if kind == "compiler":
        arrows = {(row.split("/")[0], other.split("/")[0]) for row, other in arrows}
        rows = [row for row in rows if "/" not in row]
    else:
        rows = [row for row in rows if row in ("ABI", "Support") or row.startswith("Runtime/")]
    width = max(map(len, rows)) + 5
    numbers = [f"{i + 1:3}" for i in range(len(rows))]
    print(" " * width + "".join(numbers))
    for i, row in enumerate(rows):
        marks = ("  -" if column == row else "  x" if (row, column) in arrows else "  ." for column in rows)
        print(f"{i + 1:2}  {row:{width - 4}}" + "".join(marks).rstrip())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--figure", choices=["compiler", "runtime"])
    parser.add_argument("--plant", action="append", default=[], metavar="FILE=HEADER")
    options = parser.parse_args()

    allowed = read_table()
    places = [(place, row) for row in allowed for place in [f"lib/{row}", f"include/dtc/{row}", *PLACES.get(row, [])]]
    problems, arrows, rooms = [], {}, collections.defaultdict(lambda: collections.defaultdict(set))
    for path, target in read_includes([plant.split("=") for plant in options.plant]):
        row, other = find_row(path, places), find_row(target, places)
        for file, found in (path, row), (target, other):
            if not found:
                problems.append(f"{file}: tools/layers.py has no row for its folder")
        if not row or not other:
            continue
        if row != other:
            arrows.setdefault((row, other), path)
            if other not in allowed[row]:
                problems.append(f"{path}: includes {target}, but {row} may not include {other}")
        elif row not in PLACES:
            room, next_room = (re.sub(rf"^(lib|include/dtc)/{row}/?", "", str(pathlib.PurePosixPath(file).parent))
                               for file in (path, target))
            if room and next_room and room != next_room:
                rooms[row][room].add(next_room)
    for path, other in read_links():
        row = find_row(path, places)
        if other != row and other not in allowed[row]:
            problems.append(f"{path}: links {other}, but {row} may not include {other}")
    for row in allowed:
        for other in sorted(allowed[row]):
            if (row, other) not in arrows:
                problems.append(f"tools/layers.py: nothing of {row} includes {other}; drop it from the row")
        if circle := find_circle(rooms[row]):
            problems.append(f"{row}: folders include each other: {' -> '.join(circle)}")
    if options.figure:
        print_figure(options.figure, allowed, arrows)
    for problem in sorted(set(problems)):
        print(problem)
    sys.exit(1 if problems else 0)


main()
