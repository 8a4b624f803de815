//===- Windows.cpp - calls of convolutions and poolings -------------------===//
//
// Calls pass the sizes of the window as integers.
//
//===----------------------------------------------------------------------===//

#include "LibraryCall.h"

using namespace mlir;
using namespace dtc;

/// The sizes that every call with a window has.
static std::array<int64_t, 14> getSizes(const Window &w) {
  return {w.batch,          w.height,       w.width,        w.channels,
          w.rows,           w.columns,      w.kernelHeight, w.kernelWidth,
          w.strideHeight,   w.strideWidth,  w.top,          w.left,
          w.dilationHeight, w.dilationWidth};
}

template <typename Op>
static void callConvolution(Op op, FunctionLowering &f, dtc_conv_role role) {
  auto [destination, flags] = f.getDestination(op->getResult(0));
  Window window = op.getWindow();
  SmallVector<Value> arguments = {
      f.getContext(),
      f.integer(getElementType(op->getOperand(0).getType()).code),
      f.integer(role), f.integer(flags)};
  for (int64_t size : getSizes(window))
    arguments.push_back(f.integer(size, 64));
  ArrayRef<int64_t> shape = getLocalType(op.getFilters().getType()).getShape();
  arguments.push_back(f.integer(shape[0], 64));
  arguments.push_back(f.integer(window.channels / shape[3], 64));
  for (Value value : {Value(op.getImages()), Value(op.getFilters()),
                      Value(op.getPositions())})
    arguments.push_back(
        f.pointerTo(value == op->getResult(0) ? destination : value));
  arguments.push_back(f.getScratch());
  bool isDouble =
      getLocalType(op.getFilters().getType()).getElementType().isF64();
  f.needScratch(!isDouble && dtc_conv_has_winograd(
                                 window.kernelHeight, window.kernelWidth,
                                 window.strideHeight, window.strideWidth,
                                 window.dilationHeight, window.dilationWidth,
                                 window.channels, shape[0],
                                 window.channels / shape[3])
                    ? DTC_WINOGRAD_SCRATCH_BYTES
                    : DTC_CONV_SCRATCH_BYTES);
  f.call("dtcrt_conv2d", arguments);
}

/// Operands that a role does not use are null.
template <typename Op>
static void callPooling(Op op, FunctionLowering &f, dtc_pool_role role,
                        Value images, Value gradient) {
  SmallVector<Value> arguments = {
      f.getContext(),
      f.integer(getElementType(op.getPositions().getType()).code),
      f.integer(role)};
  for (int64_t size : getSizes(op.getWindow()))
    arguments.push_back(f.integer(size, 64));
  for (Value value : {images, Value(op.getPositions()), gradient})
    arguments.push_back(value ? f.pointerTo(value) : f.null());
  f.call("dtcrt_pool2d", arguments);
}

void dtc::buildCall(Conv2DOp op, FunctionLowering &f) {
  callConvolution(op, f, DTC_CONV_FORWARD);
}

void dtc::buildCall(Conv2DInputGradOp op, FunctionLowering &f) {
  callConvolution(op, f, DTC_CONV_INPUT_GRAD);
}

void dtc::buildCall(Conv2DFilterGradOp op, FunctionLowering &f) {
  callConvolution(op, f, DTC_CONV_WEIGHT_GRAD);
}

void dtc::buildCall(MaxPool2DOp op, FunctionLowering &f) {
  callPooling(op, f, DTC_POOL_MAX, op.getImages(), {});
}

void dtc::buildCall(MaxPool2DGradOp op, FunctionLowering &f) {
  callPooling(op, f, DTC_POOL_MAX_GRAD, op.getImages(), op.getDimages());
}

void dtc::buildCall(SumPool2DOp op, FunctionLowering &f) {
  callPooling(op, f, DTC_POOL_SUM, op.getImages(), {});
}

void dtc::buildCall(SumPool2DGradOp op, FunctionLowering &f) {
  callPooling(op, f, DTC_POOL_SUM_GRAD, {}, op.getImages());
}
