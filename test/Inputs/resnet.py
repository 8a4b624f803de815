"""torchvision's ResNet, which the references do without: the names of its
modules and their order are torchvision's."""

from torch import nn


def convolution(channels, width, kernel, stride=1):
    return nn.Conv2d(channels, width, kernel, stride, kernel // 2, bias=False)


class Block(nn.Module):
    """A basic block, of 3x3 convolutions, or a bottleneck, 1x1, 3x3, 1x1."""

    def __init__(self, channels, width, stride, is_bottleneck):
        super().__init__()
        if is_bottleneck:
            shapes = [(width, 1, 1), (width, 3, stride), (4 * width, 1, 1)]
        else:
            shapes = [(width, 3, stride), (width, 3, 1)]
        out = channels
        for number, (width, kernel, stride_here) in enumerate(shapes, 1):
            setattr(self, f"conv{number}",
                    convolution(out, width, kernel, stride_here))
            setattr(self, f"bn{number}", nn.BatchNorm2d(width))
            out = width
        self.count = len(shapes)
        self.relu = nn.ReLU()
        self.downsample = None
        if stride != 1 or channels != out:
            self.downsample = nn.Sequential(
                convolution(channels, out, 1, stride), nn.BatchNorm2d(out))

    def forward(self, x):
        y = x
        for number in range(1, self.count + 1):
            y = getattr(self, f"bn{number}")(
                getattr(self, f"conv{number}")(y))
            if number < self.count:
                y = self.relu(y)
        return self.relu(y + (self.downsample(x) if self.downsample else x))


class ResNet(nn.Module):
    """[batch, channels, height, width] -> [batch, classes]. `stages` are the
    numbers of blocks, `stem` kernel and stride of the first convolution,
    `pool` the stride of the max pool behind it, None if there is none."""

    def __init__(self, stages, is_bottleneck, width, channels, classes, stem,
                 pool):
        super().__init__()
        self.conv1 = convolution(channels, width, *stem)
        self.bn1 = nn.BatchNorm2d(width)
        self.relu = nn.ReLU()
        self.maxpool = nn.MaxPool2d(3, pool, 1) if pool else nn.Identity()
        self.stages = len(stages)
        channels = width
        for stage, count in enumerate(stages):
            blocks = nn.Sequential()
            for i in range(count):
                stride = 2 if stage and not i else 1
                blocks.append(Block(channels, width, stride, is_bottleneck))
                channels = width * (4 if is_bottleneck else 1)
            setattr(self, f"layer{stage + 1}", blocks)
            width *= 2
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(channels, classes)

    def forward(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        for stage in range(self.stages):
            x = getattr(self, f"layer{stage + 1}")(x)
        return self.fc(self.avgpool(x).flatten(1))
