//===- Convolution.cpp - gradients of convolutions and pooling ------------===//
//
// A convolution is linear in its images and in its filters. The gradient of its
// image gradient is a convolution again.
//
//===----------------------------------------------------------------------===//

#include "Vjp.h"

using namespace mlir;

namespace dtc {

static void differentiate(Conv2DOp op, Vjp &d) {
  Value x = op.getImages(), w = op.getFilters(), g = d.grad();
  d.set(0, d.create<Conv2DInputGradOp>(x.getType(), g, w, op.getStrides(),
                                       op.getPadding(), op.getDilations()));
  d.set(1,
        d.create<Conv2DFilterGradOp>(getGradientType(w), x, g, op.getStrides(),
                                     op.getPadding(), op.getDilations()));
}

static void differentiate(Conv2DInputGradOp op, Vjp &d) {
  Value dy = op.getPositions(), w = op.getFilters(), g = d.grad();
  d.set(0, d.create<Conv2DOp>(dy.getType(), g, w, op.getStrides(),
                              op.getPadding(), op.getDilations()));
  d.set(1,
        d.create<Conv2DFilterGradOp>(getGradientType(w), g, dy, op.getStrides(),
                                     op.getPadding(), op.getDilations()));
}

static void differentiate(MaxPool2DOp op, Vjp &d) {
  d.set(0, d.create<MaxPool2DGradOp>(op.getImages().getType(), op.getImages(),
                                     d.grad(), op.getKernel(), op.getStrides(),
                                     op.getPadding(), op.getDilations()));
}

static void differentiate(SumPool2DOp op, Vjp &d) {
  d.set(0, d.create<SumPool2DGradOp>(op.getImages().getType(), d.grad(),
                                     op.getKernel(), op.getStrides(),
                                     op.getPadding(), op.getDilations()));
}

void attachConvolutionGradients(MLIRContext &context) {
  attachGradients<Conv2DOp, Conv2DInputGradOp, MaxPool2DOp, SumPool2DOp>(
      context);
}

} // namespace dtc
