"""Prints Transforms.inc: what torchvision and PyTorch make of a small image.

usage: make_transforms.py > Transforms.inc

Needs torch and torchvision. Pixels are (7 i) mod 256 of 2 x 5 x 6.
"""

import torch
import torchvision
import torchvision.transforms.functional as F
from torchvision.transforms import InterpolationMode

IMAGE = ((torch.arange(60) * 7) % 256).reshape(2, 5, 6).float()


def interpolate(image, size):
    return torch.nn.functional.interpolate(image[None], size, mode="bilinear",
                                           align_corners=False,
                                           antialias=False)[0]


def resize(image, size):
    result = F.resize(image, size, InterpolationMode.BILINEAR,
                      antialias=False)
    assert torch.equal(result, interpolate(image, size))
    return result


def show(transform, image):
    numbers = ", ".join(f"{value:.9g}f" if "." in f"{value:.9g}" or "e" in
                        f"{value:.9g}" else f"{value:.9g}.0f"
                        for value in image.flatten().tolist())
    print(f'{{"{transform}",\n {{{", ".join(map(str, image.shape))}}},\n'
          f" {{{numbers}}}}},")


print(f"// Written by make_transforms.py with PyTorch {torch.__version__}, "
      f"torchvision {torchvision.__version__}")
scaled = IMAGE / 255
show("scale", scaled)
show("scale, normalize([0.485,0.25], [0.229,0.5])",
     F.normalize(scaled, [0.485, 0.25], [0.229, 0.5]))
show("normalize(127.5, 127.5)", F.normalize(IMAGE, [127.5] * 2, [127.5] * 2))
show("center-crop(3)", F.center_crop(IMAGE, [3, 3]))
show("center-crop(2,3)", F.center_crop(IMAGE, [2, 3]))
show("resize(3)", resize(IMAGE, [3, 3]))
show("resize(8,9)", resize(IMAGE, [8, 9]))
show("resize(1,13)", resize(IMAGE, [1, 13]))
show("resize(7,8), center-crop(4,5), scale(1/4)",
     F.center_crop(resize(IMAGE, [7, 8]), [4, 5]) / 4)
# Without random numbers, `crop` takes the middle of the padded image.
show("crop(5,6,2)", IMAGE)
show("crop(8,7,2)", F.center_crop(F.pad(IMAGE, [2, 2, 2, 2]), [8, 7]))
