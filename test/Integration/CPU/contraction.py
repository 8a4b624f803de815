"""Compares the error of a compressor with its formula.

usage: contraction.py COMPRESSOR X.npy GRADIENTS

GRADIENTS has a file of the decoded gradient for each step. Selections and scales
are computed again here; errors of random codes are means over the steps.
"""

import array
import json
import struct
import sys
from pathlib import Path


def read_npy(path):
    data = path.read_bytes()
    start = 10 + struct.unpack_from("<H", data, 8)[0]
    return array.array("f", data[start:])


def read_safetensors(path):
    data = path.read_bytes()
    size = struct.unpack_from("<Q", data)[0]
    first, last = json.loads(data[8:8 + size])["w"]["data_offsets"]
    return array.array("f", data[8 + size + first:8 + size + last])


def squares(values):
    return sum(v * v for v in values)


def blocks(x, size):
    return [x[i:i + size] for i in range(0, len(x), size)]


def expected(name, number, x):
    """The expected error as a share of |x|², its tolerance, and its bound."""
    n, total = len(x), squares(x)
    if name == "topk":
        k = round(number * n)
        largest = sorted((abs(v) for v in x), reverse=True)[:k]
        return 1 - squares(largest) / total, 1e-5, 1 - k / n
    if name == "randk":  # unbiased: n / k times the elements
        k = round(number * n)
        return n / k - 1, 0.15, n / k - 1
    if name == "sign":
        error = sum(squares(b) - sum(map(abs, b))**2 / len(b)
                    for b in blocks(x, 1024))
        return error / total, 1e-5, 1
    if name in ("int8", "int4"):
        size, levels = {"int8": (256, 127), "int4": (64, 7)}[name]
        error = bound = 0
        for block in blocks(x, size):
            scale = max(map(abs, block)) / levels
            error += sum((v - scale * ((v / scale + 0.5) // 1))**2
                         for v in block)
            bound += len(block) * scale**2 / 4
        return error / total, 1e-3, bound / total
    if name == "qsgd":
        error = 0
        for block in blocks(x, 512):
            scale = squares(block)**0.5 / number
            parts = (abs(v) / scale % 1 for v in block)
            error += sum(p * (1 - p) for p in parts) * scale**2
        # Both ranks round by themselves, so half of it is left in the sum.
        return (error / 2 / total, 0.05,
                min(512 / number**2, 512**0.5 / number))
    values = [3, 2, 1]
    rank = int(number)
    return squares(values[rank:]) / squares(values), 1e-5, 1


def main():
    name, _, number = sys.argv[1].partition(":")
    x = read_npy(Path(sys.argv[2]))
    x = x[:len(x) // 2]  # both samples are the same
    files = sorted(Path(sys.argv[3]).iterdir())
    # The factors of powersgd get better from step to step.
    if name == "powersgd":
        files = [max(files, key=lambda f: int(f.stem.split("-")[1]))]
    errors = [squares(a - b for a, b in zip(x, read_safetensors(f))) / squares(x)
              for f in files]
    error = sum(errors) / len(errors)
    formula, tolerance, bound = expected(name, float(number or 0), x)
    isRight = abs(error - formula) <= tolerance * formula + 1e-6
    print(f"{'ok' if isRight else 'FAIL'}: {sys.argv[1]}: error {error:.6g}, "
          f"formula {formula:.6g}, bound {bound:.6g}")
    sys.exit(not isRight or error > bound * (1 + tolerance) + 1e-6)


if __name__ == "__main__":
    main()
