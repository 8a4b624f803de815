"""Writes images/: a folder of images per class, and what Pillow reads there.

usage: make_images.py

images/expected.bin has the pixels of all files, in the order of their names,
channels first: 3 x 4 x 6 of 8 bits each; gray.bin all as 1 x 4 x 6; halved.bin
the first as 3 x 2 x 3, by BILINEAR.
"""

from pathlib import Path

import numpy as np
from PIL import Image

OUTPUT = Path(__file__).parent / "images"


def main():
    rng = np.random.default_rng(0)
    for folder in ("cat", "dog"):
        (OUTPUT / folder).mkdir(parents=True, exist_ok=True)
    colours = rng.integers(0, 256, (4, 6, 3), dtype=np.uint8)
    Image.fromarray(colours).save(OUTPUT / "cat/colour.png")
    gray = rng.integers(0, 256, (4, 6), dtype=np.uint8)
    Image.fromarray(gray).save(OUTPUT / "dog/gray.png")
    palette = Image.fromarray(colours[::-1]).quantize(16)
    palette.save(OUTPUT / "dog/palette.png")
    opaque = np.concatenate([colours[:, ::-1], gray[..., None]], 2)
    Image.fromarray(opaque).save(OUTPUT / "dog/transparent.png")
    files = sorted(OUTPUT.glob("*/*"))
    images = [Image.open(path).convert("RGB") for path in files]
    (OUTPUT / "expected.bin").write_bytes(b"".join(
        np.asarray(image).transpose(2, 0, 1).tobytes() for image in images))
    (OUTPUT / "gray.bin").write_bytes(b"".join(
        np.asarray(image.convert("L")).tobytes() for image in images))
    halved = images[0].resize((3, 2), Image.BILINEAR)
    (OUTPUT / "halved.bin").write_bytes(
        np.asarray(halved).transpose(2, 0, 1).tobytes())
    # A smooth picture, which JPEG keeps nearly: 200, 100, 50.
    (OUTPUT.parent / "jpeg/flat").mkdir(parents=True, exist_ok=True)
    flat = np.full((16, 16, 3), (200, 100, 50), dtype=np.uint8)
    Image.fromarray(flat).save(OUTPUT.parent / "jpeg/flat/flat.jpg",
                               quality=95)


if __name__ == "__main__":
    main()
