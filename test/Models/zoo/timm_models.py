"""timm's models without pretrained weights, narrow and shallow."""

import timm
from timm.layers import GatedMlp, GroupNorm1
from timm.models.convmixer import ConvMixer
from timm.models.metaformer import MetaFormer
from timm.models.mlp_mixer import (Affine, MlpMixer, ResBlock,
                                   SpatialGatingBlock)
from torch import nn

from model import Model, images


def _timm(name, size=32, has_heads=False, **options):
    return Model(timm.create_model(name, num_classes=10, **options),
                 [images(size)], has_heads=has_heads)


def vit_tiny():
    return _timm("vit_tiny_patch16_224", img_size=32, patch_size=8, depth=2,
                 embed_dim=32, num_heads=2, drop_rate=0.1, has_heads=True)


def deit_tiny_distilled():
    return _timm("deit_tiny_distilled_patch16_224", img_size=32, patch_size=8,
                 depth=2, embed_dim=32, num_heads=2, has_heads=True)


def swin_tiny():
    return _timm("swin_tiny_patch4_window7_224", img_size=32, window_size=4,
                 embed_dim=32, depths=(2, 2), num_heads=(2, 4), has_heads=True)


def _mixer(**options):
    return Model(MlpMixer(10, 32, patch_size=8, num_blocks=2, embed_dim=32,
                          **options), [images(32)])


def mixer_b16():
    return _mixer()


def gmlp_ti16():
    return _mixer(mlp_ratio=6, block_layer=SpatialGatingBlock,
                  mlp_layer=GatedMlp)


def resmlp():
    return _mixer(mlp_ratio=4, block_layer=ResBlock, norm_layer=Affine)


def convmixer():
    return Model(ConvMixer(32, 2, kernel_size=5, patch_size=4, num_classes=10),
                 [images(32)])


def poolformer():
    return Model(MetaFormer(
        num_classes=10, depths=(1, 1, 1, 1), dims=(16, 16, 32, 32),
        downsample_norm=None, mlp_act=nn.GELU, mlp_bias=True,
        norm_layers=GroupNorm1, layer_scale_init_values=1e-5,
        res_scale_init_values=None, use_mlp_head=False), [images(32)])


def resnet18d():
    return _timm("resnet18d")


def seresnet18():
    return _timm("seresnet18")


def efficientnet_b0():
    return _timm("efficientnet_b0", drop_rate=0.2, drop_path_rate=0.1)


def mobilenetv3_small():
    return _timm("mobilenetv3_small_050")


def convnext_atto():
    return _timm("convnext_atto", depths=(1, 1, 2, 1), dims=(16, 16, 32, 32),
                 drop_path_rate=0.1)


def convnextv2():
    return _timm("convnextv2_atto", depths=(1, 1, 1, 1), dims=(16, 16, 32, 32))


def ghostnet():
    return _timm("ghostnet_050")


def repvgg():
    return _timm("repvgg_a0")


def nf_resnet():
    return _timm("nf_resnet26")


def eva02_tiny():
    return _timm("eva02_tiny_patch14_224", img_size=32, patch_size=8, depth=2,
                 embed_dim=32, num_heads=2, has_heads=True)


def beit():
    return _timm("beit_base_patch16_224", img_size=32, patch_size=8, depth=2,
                 embed_dim=32, num_heads=2, has_heads=True)


def cait():
    return _timm("cait_xxs24_224", img_size=32, patch_size=8, depth=2,
                 embed_dim=32, num_heads=2)


def xcit_nano():
    return _timm("xcit_nano_12_p16_224", img_size=32, patch_size=8, depth=2,
                 embed_dim=32, num_heads=2)


def mobilevit():
    return _timm("mobilevit_xxs", size=64)


def levit():
    return _timm("levit_128s", size=64, img_size=64)


def dla():
    return _timm("dla46_c")


def res2net():
    return _timm("res2net50_26w_4s", layers=(1, 1, 1, 1))
