//===- Volume.cpp - windows over images with depth ------------------------===//
//
// See Volume.h.
//
//===----------------------------------------------------------------------===//

#include "Volume.h"

using namespace llvm;
using mlir::Value;

namespace dtc::frontend {

/// `x` from `before` zeros on in a dimension 1 of `size`.
static Value padDepth(NodeBuilder &node, Value x, int64_t before,
                      int64_t size) {
  Shape shape(node.shapeOf(x));
  if (shape[1] == size)
    return x;
  shape[1] = size;
  return node.create<PadOp>(node.typeOf(shape, node.elementType(x)), x, 1,
                            before);
}

/// What padDepth added has another value.
static Value fillPadding(NodeBuilder &node, Value x, int64_t before,
                         int64_t size, double value) {
  HostTensor isInside(DType::Bool, {1, node.shapeOf(x)[1], 1, 1, 1});
  for (int64_t i = 0; i < size; ++i)
    isInside.setInt(before + i, 1);
  return node.select(node.constant(isInside), x, node.scalar(value, x));
}

/// Elements that padding and all taps have room in, in whole strides.
static int64_t sizeWithPadding(const WindowDim &depth) {
  return std::max(depth.before + depth.size,
                  (depth.kernel - 1) * depth.dilation +
                      depth.positions * depth.stride);
}

SmallVector<Value> readTaps(NodeBuilder &node, Value x, const WindowDim &depth,
                            double padding) {
  int64_t size = sizeWithPadding(depth);
  x = padDepth(node, x, depth.before, size);
  if (padding != 0 && size != depth.size)
    x = fillPadding(node, x, depth.before, depth.size, padding);
  SmallVector<Value> taps;
  for (int64_t tap = 0; tap < depth.kernel; ++tap) {
    Value images =
        node.slice(x, 1, tap * depth.dilation, depth.positions * depth.stride);
    Shape shape(node.shapeOf(images));
    // The first of each stride.
    shape.insert(shape.begin() + 2, depth.stride);
    shape[1] = depth.positions;
    images = node.slice(node.reshape(images, shape), 2, 0, 1);
    taps.push_back(node.reshape(
        images, {shape[0] * shape[1], shape[3], shape[4], shape[5]}));
  }
  return taps;
}

Value sumTaps(NodeBuilder &node, ArrayRef<Value> taps, const WindowDim &depth) {
  int64_t size = sizeWithPadding(depth);
  Value sum;
  for (auto [tap, images] : enumerate(taps)) {
    ArrayRef<int64_t> image = node.shapeOf(images);
    int64_t batch = image[0] / depth.positions;
    Shape strides = {batch * depth.positions, 1, image[1], image[2], image[3]};
    Value part = padDepth(node, node.reshape(images, strides), 0, depth.stride);
    part = node.reshape(part, {batch, depth.positions * depth.stride, image[1],
                               image[2], image[3]});
    part = padDepth(node, part, int64_t(tap) * depth.dilation, size);
    sum = sum ? node.add(sum, part) : part;
  }
  return node.slice(sum, 1, depth.before, depth.size);
}

} // namespace dtc::frontend
