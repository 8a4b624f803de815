"""torchvision's classifiers without pretrained weights, on small images."""

import torchvision.models as tv
from torch import nn

from model import Model, images


def alexnet():
    module = tv.alexnet(num_classes=10)
    module.avgpool = nn.AdaptiveAvgPool2d(1)
    module.classifier = nn.Sequential(
        nn.Dropout(0.5), nn.Linear(256, 64), nn.ReLU(inplace=True),
        nn.Dropout(0.5), nn.Linear(64, 64), nn.ReLU(inplace=True),
        nn.Linear(64, 10))
    return Model(module, [images(64)])


def _vgg(module):
    module.avgpool = nn.AdaptiveAvgPool2d(1)
    module.classifier = nn.Sequential(
        nn.Linear(512, 64), nn.ReLU(True), nn.Dropout(), nn.Linear(64, 10))
    return Model(module, [images(32)])


def vgg11():
    return _vgg(tv.vgg11())


def vgg11_bn():
    return _vgg(tv.vgg11_bn())


def resnet18():
    return Model(tv.resnet18(num_classes=10), [images(32)])


def resnet50():
    # One block a stage.
    return Model(tv.ResNet(tv.resnet.Bottleneck, [1, 1, 1, 1], num_classes=10,
                           width_per_group=16), [images(32)])


def resnext50():
    return Model(tv.ResNet(tv.resnet.Bottleneck, [1, 1, 1, 1], num_classes=10,
                           groups=8, width_per_group=4), [images(32)])


def densenet():
    return Model(tv.DenseNet(8, (2, 3, 2), 16, num_classes=10), [images(32)])


def mobilenet_v2():
    return Model(tv.mobilenet_v2(num_classes=10, width_mult=0.35), [images(64)])


def mobilenet_v3_small():
    return Model(tv.mobilenet_v3_small(num_classes=10), [images(32)])


def efficientnet_b0():
    settings = [tv.efficientnet.MBConvConfig(*row) for row in (
        (1, 3, 1, 16, 16, 1, 1.0, 1.0), (4, 3, 2, 16, 24, 2, 1.0, 1.0),
        (4, 5, 2, 24, 40, 1, 1.0, 1.0))]
    return Model(tv.EfficientNet(settings, 0.2, num_classes=10), [images(32)])


def convnext():
    block = tv.convnext.CNBlockConfig
    return Model(tv.ConvNeXt([block(16, 32, 2), block(32, 64, 2),
                              block(64, None, 1)], 0.1, num_classes=10),
                 [images(32)])


def googlenet():
    # Without the auxiliary heads, which return a second and a third output.
    return Model(tv.googlenet(num_classes=10, aux_logits=False,
                              init_weights=False), [images(64)])


def squeezenet():
    return Model(tv.squeezenet1_1(num_classes=10), [images(64)])


def shufflenet_v2():
    return Model(tv.ShuffleNetV2([2, 2, 2], [24, 32, 64, 128, 256],
                                 num_classes=10), [images(64)])


def regnet_y():
    params = tv.regnet.BlockParams.from_init_params(
        depth=4, w_0=16, w_a=16.0, w_m=2.0, group_width=8, se_ratio=0.25)
    return Model(tv.RegNet(params, num_classes=10), [images(32)])


def mnasnet():
    return Model(tv.mnasnet0_5(num_classes=10), [images(64)])


def vit():
    return Model(tv.VisionTransformer(
        image_size=32, patch_size=8, num_layers=2, num_heads=2, hidden_dim=32,
        mlp_dim=64, dropout=0.1, attention_dropout=0.1, num_classes=10),
        [images(32)], has_heads=True)


def swin():
    return Model(tv.SwinTransformer(
        patch_size=[4, 4], embed_dim=32, depths=[2, 2], num_heads=[2, 4],
        window_size=[4, 4], stochastic_depth_prob=0.1, num_classes=10),
        [images(32)], has_heads=True)


def swin_v2():
    return Model(tv.SwinTransformer(
        patch_size=[4, 4], embed_dim=32, depths=[2], num_heads=[2],
        window_size=[4, 4], stochastic_depth_prob=0.1, num_classes=10,
        block=tv.swin_transformer.SwinTransformerBlockV2), [images(32)],
        has_heads=True)


def maxvit():
    return Model(tv.MaxVit(
        input_size=(32, 32), stem_channels=16, partition_size=4,
        block_channels=[16, 32], block_layers=[1, 1], head_dim=16,
        stochastic_depth_prob=0.1, num_classes=10), [images(32)])


class _Out(nn.Module):
    """Returns the first of the named outputs."""

    def __init__(self, body):
        super().__init__()
        self.body = body

    def forward(self, x):
        return self.body(x)["out"]


def fcn():
    # Segmentation: a class for each pixel.
    from torchvision.models.segmentation import fcn as segmentation
    backbone = tv.resnet18()
    body = tv._utils.IntermediateLayerGetter(backbone, {"layer2": "out"})
    return Model(_Out(segmentation.FCN(body, segmentation.FCNHead(128, 5))),
                 [images(32)], class_axis=1)
