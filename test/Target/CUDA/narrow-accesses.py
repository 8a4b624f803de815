"""usage: narrow-accesses.py FILE.ptx...

Prints the device functions that read or write global memory in pieces where
whole 16 bytes would do: narrower accesses at consecutive offsets from one
register that together are a multiple of 16 bytes."""
import re
import sys

ACCESS = re.compile(
    r"\b(ld|st)\.global(?:\.nc)?(?:\.v(\d))?\.[bfus](\d+)\s.*?\[(%\w+)(?:\+(-?\d+))?\]"
)


def runs(accesses):
    """Bytes of each row of neighbours of one size, by offset."""
    for offset, size in accesses.items():
        if accesses.get(offset - size) == size:
            continue
        total = size
        while accesses.get(offset + total) == size:
            total += size
        if total > size:
            yield size, total


for path in sys.argv[1:]:
    text = open(path).read()
    functions = re.findall(r"\.entry (\w+)\(.*?\n\{\n(.*?)\n\}\n", text, re.S)
    assert functions and ".global" in text, f"{path}: found no device functions"
    for name, body in functions:
        found = {}
        for block in re.split(r"^\$\w+:", body, flags=re.M):
            bases = {}
            for kind, lanes, bits, base, offset in ACCESS.findall(block):
                size = int(lanes or 1) * int(bits) // 8
                bases.setdefault((kind, base), {})[int(offset or 0)] = size
            for (kind, _), accesses in bases.items():
                for size, total in runs(accesses):
                    if size < 16 and total % 16 == 0:
                        key = (kind, size)
                        found[key] = found.get(key, 0) + total // size
        for (kind, size), count in found.items():
            print(f"{name}: {count} {kind}.global of {size} bytes are side by side")
