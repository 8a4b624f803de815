"""Writes images/: a folder of images per class, and what Pillow reads there.

usage: make_images.py

images/expected.bin has the pixels of all files but the JPEG, in the order of
their names, channels first: 3 x 4 x 6 of 8 bits each. images/halved.bin has the
first of them as 3 x 2 x 3, by Pillow's BILINEAR.
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
    Image.fromarray(colours[:, ::-1]).save(OUTPUT / "dog/windows.bmp")
    files = sorted(OUTPUT.glob("*/*"))
    images = [Image.open(path).convert("RGB") for path in files]
    (OUTPUT / "expected.bin").write_bytes(b"".join(
        np.asarray(image).transpose(2, 0, 1).tobytes() for image in images))
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
