//===- ConvolutionOps.td - windows over images -------------*- tablegen -*-===//
//
// Images are channels last: [batch, height, width, channels].
//
//===----------------------------------------------------------------------===//

#ifndef DTC_DIALECT_CONVOLUTIONOPS_TD
#define DTC_DIALECT_CONVOLUTIONOPS_TD

include "dtc/Dialect/OpBase.td"

/// An op whose window goes over images: at position (y, x) its tap (i, j) is at
/// (y * strides[0] - padding[0] + i * dilations[0],
///  x * strides[1] - padding[1] + j * dilations[1]) of the image.
class DTC_WindowOp<string name, list<Trait> traits = []>
    : DTC_TensorOp<name, traits> {
  dag geometry = (ins DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$padding,
                      DenseI64ArrayAttr:$dilations);
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Where the window lies, on local shapes.
    ::dtc::Window getWindow();
  }];
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// Operands and result are, by their names, images, filters and positions of
/// the window, or gradients of these.
class DTC_ConvOp<string name> : DTC_WindowOp<name, [
    DTC_Product, SameOperandsElementType,
    DeclareOpInterfaceMethods<DTC_CostInterface, ["getFlops"]>]> {
  let assemblyFormat = [{
    operands `strides` $strides `padding` $padding `dilations` $dilations
    attr-dict `:` functional-type(operands, results)
  }];
}

def DTC_Conv2DOp : DTC_ConvOp<"conv2d"> {
  let summary = "2-D convolution (cross-correlation)";
  let description = [{
    y[n, p, q, f] = sum over i, j, c of x[n, at(p, i), at(q, j), c] *
    w[f, i, j, c], where x is zero outside of the image. An image has G times
    the channels of a filter: groups of channels and of filters correspond.
    Padding is top, left, bottom, right.

    Example: `%y = dtc.conv2d %x, %w strides [2, 2] padding [1, 1, 1, 1] dilations [1, 1] : (tensor<8x32x32x3xf32>, tensor<16x3x3x3xf32>) -> tensor<8x16x16x16xf32>`
    Constraints: (C1) the number of channels of a filter divides that of the
    image, and the quotient G the number of filters; (C2) the result has the
    positions at which the window lies inside of the padded image.
  }];
  let arguments = !con((ins DTC_Float:$images, DTC_Float:$filters), geometry);
  let results = (outs DTC_Float:$positions);
}

def DTC_Conv2DInputGradOp : DTC_ConvOp<"conv2d_input_grad"> {
  let summary = "gradient of conv2d with respect to its images: a transposed convolution";
  let description = [{
    The sum over f, p, q, i, j of dy[n, p, q, f] * w[f, i, j, c] at
    (at(p, i), at(q, j)).
    Example: `%dx = dtc.conv2d_input_grad %dy, %w strides [2, 2] padding [1, 1, 1, 1] dilations [1, 1] : (tensor<8x16x16x16xf32>, tensor<16x3x3x3xf32>) -> tensor<8x32x32x3xf32>`
    Constraints: as conv2d of the result.
  }];
  let arguments = !con((ins DTC_Float:$positions, DTC_Float:$filters), geometry);
  let results = (outs DTC_Float:$images);
}

def DTC_Conv2DFilterGradOp : DTC_ConvOp<"conv2d_filter_grad"> {
  let summary = "gradient of conv2d with respect to its filters";
  let description = [{
    dw[f, i, j, c] = sum over n, p, q of dy[n, p, q, f] * x[n, at(p, i), at(q, j), c].
    Example: `%dw = dtc.conv2d_filter_grad %x, %dy strides [2, 2] padding [1, 1, 1, 1] dilations [1, 1] : (tensor<8x32x32x3xf32>, tensor<8x16x16x16xf32>) -> tensor<16x3x3x3xf32>`
    Constraints: as conv2d.
  }];
  let arguments = !con((ins DTC_Float:$images, DTC_Float:$positions), geometry);
  let results = (outs DTC_Float:$filters);
}

//===----------------------------------------------------------------------===//
// Pooling: taps outside of the image do not count.
//===----------------------------------------------------------------------===//

class DTC_PoolOp<string name>
    : DTC_WindowOp<name, [SameOperandsAndResultElementType]> {
  dag windowed = !con((ins DenseI64ArrayAttr:$kernel), geometry);
  let assemblyFormat = [{
    operands `kernel` $kernel `strides` $strides `padding` $padding
    `dilations` $dilations attr-dict `:` functional-type(operands, results)
  }];
}

def DTC_MaxPool2DOp : DTC_PoolOp<"max_pool2d"> {
  let summary = "largest element under a window, for each channel";
  let description = [{
    Example: `%y = dtc.max_pool2d %x kernel [2, 2] strides [2, 2] padding [0, 0, 0, 0] dilations [1, 1] : (tensor<8x32x32x16xf32>) -> tensor<8x16x16x16xf32>`
    Constraints: (C1) the result has the positions at which the window lies
    inside of the padded image; (C2) at each a tap is inside of the image.
  }];
  let arguments = !con((ins DTC_Float:$images), windowed);
  let results = (outs DTC_Float:$positions);
}

def DTC_MaxPool2DGradOp : DTC_PoolOp<"max_pool2d_grad"> {
  let summary = "gradient of max_pool2d";
  let description = [{
    dy at the first tap, in row-major order, that is the largest of its window.
    Example: `%dx = dtc.max_pool2d_grad %x, %dy kernel [2, 2] strides [2, 2] padding [0, 0, 0, 0] dilations [1, 1] : (tensor<8x32x32x16xf32>, tensor<8x16x16x16xf32>) -> tensor<8x32x32x16xf32>`
    Constraints: as max_pool2d.
  }];
  let arguments = !con((ins DTC_Float:$images, DTC_Float:$positions), windowed);
  let results = (outs DTC_Float:$dimages);
}

def DTC_SumPool2DOp : DTC_PoolOp<"sum_pool2d"> {
  let summary = "sum of the elements under a window, for each channel";
  let description = [{
    Example: `%y = dtc.sum_pool2d %x kernel [2, 2] strides [2, 2] padding [0, 0, 0, 0] dilations [1, 1] : (tensor<8x32x32x16xf32>) -> tensor<8x16x16x16xf32>`
    Constraints: as max_pool2d.
  }];
  let arguments = !con((ins DTC_Float:$images), windowed);
  let results = (outs DTC_Float:$positions);
}

def DTC_SumPool2DGradOp : DTC_PoolOp<"sum_pool2d_grad"> {
  let summary = "gradient of sum_pool2d";
  let description = [{
    dy at each tap of its window.
    Example: `%dx = dtc.sum_pool2d_grad %dy kernel [2, 2] strides [2, 2] padding [0, 0, 0, 0] dilations [1, 1] : (tensor<8x16x16x16xf32>) -> tensor<8x32x32x16xf32>`
    Constraints: as max_pool2d.
  }];
  let arguments = !con((ins DTC_Float:$positions), windowed);
  let results = (outs DTC_Float:$images);
}

//===----------------------------------------------------------------------===//
// Batch normalisation
//===----------------------------------------------------------------------===//

def DTC_BatchNormOp : DTC_InferredOp<"batch_norm", [SameOperandsElementType, DeclareOpInterfaceMethods<DTC_EvaluationInterface>]> {
  let summary = "normalisation of each channel by the statistics of a batch";
  let description = [{
    (x - m) / sqrt(v + epsilon) * scale + bias, all but x by channel, the last
    dimension. In training m and v are the mean and variance of the batch, and
    `mean` and `variance` are moving averages of them; momentum is the weight of
    the old average. ExpandTrainingOps replaces the op, and decides which ranks and
    micro-batches form the batch. With `running`, as in an evaluation, m and v are
    `mean` and `variance`, which do not change. (Ioffe and Szegedy, arXiv 1502.03167.)

    Example: `%y = dtc.batch_norm %x, %s, %b, %m, %v {epsilon = 1.0e-5 : f64, momentum = 0.9 : f64} : (tensor<8x4x4x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<8x4x4x16xf32>`
    Constraints: (C1) all but x have the shape of x's last dimension.
  }];
  let arguments = (ins DTC_Float:$x, DTC_Float:$scale, DTC_Float:$bias,
                       DTC_Float:$mean, DTC_Float:$variance, F64Attr:$epsilon,
                       F64Attr:$momentum, UnitAttr:$running);
  let results = (outs DTC_Float:$y);
  let hasVerifier = 1;
}

#endif // DTC_DIALECT_CONVOLUTIONOPS_TD
