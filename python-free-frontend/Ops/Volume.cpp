//===- Volume.cpp - images and volumes ------------------------------------===//
//
// See Volume.h.
//
//===----------------------------------------------------------------------===//

#include "Ops/Volume.h"
#include "Ops/Take.h"

using namespace llvm;
using mlir::Value;

namespace dtc::frontend {

bool isVolume(const NodeBuilder &node) { return node.call.rank(0) == 5; }

Value toImage(NodeBuilder &node, Value x) {
  Shape shape(node.shapeOf(x));
  if (shape.size() == 3)
    shape.insert(shape.begin() + 2, 1);
  return node.channelsLast(node.reshape(x, shape));
}

Value fromImage(NodeBuilder &node, Value y) {
  y = node.channelsFirst(y);
  Shape shape(node.shapeOf(y));
  if (node.call.rank(0) == 3)
    shape.erase(shape.begin() + 2);
  return node.reshape(y, shape);
}

Value splitDepth(NodeBuilder &node, Value volumes) {
  Shape shape(node.shapeOf(volumes));
  shape[1] *= shape[0];
  return node.reshape(volumes, ArrayRef(shape).drop_front());
}
Value joinDepth(NodeBuilder &node, Value images, int64_t depth) {
  Shape shape(node.shapeOf(images));
  shape.insert(shape.begin() + 1, depth);
  shape[0] /= depth;
  return node.reshape(images, shape);
}

/// Smallest multiple of the stride that has room for the padding and all taps.
static int64_t sizeWithPadding(const WindowDim &depth) {
  return std::max(depth.before + depth.size,
                  (depth.kernel - 1) * depth.dilation +
                      depth.positions * depth.stride);
}

SmallVector<Value> readTaps(NodeBuilder &node, Value x, const WindowDim &depth,
                            double padding) {
  x = pad(node, x, 1, depth.before,
          sizeWithPadding(depth) - depth.before - depth.size,
          HostTensor::scalar(fromType(node.elementType(x)), padding));
  SmallVector<Value> taps;
  for (int64_t tap = 0; tap < depth.kernel; ++tap) {
    Value images =
        node.slice(x, 1, tap * depth.dilation, depth.positions * depth.stride);
    Shape shape(node.shapeOf(images));
    // Select the first element of each stride.
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
  HostTensor zero =
      HostTensor::scalar(fromType(node.elementType(taps.front())), 0);
  Value sum;
  for (auto [tap, images] : enumerate(taps)) {
    ArrayRef<int64_t> image = node.shapeOf(images);
    int64_t batch = image[0] / depth.positions;
    Value part =
        node.reshape(images, {image[0], 1, image[1], image[2], image[3]});
    part = pad(node, part, 1, 0, depth.stride - 1, zero);
    int64_t spread = depth.positions * depth.stride;
    part = node.reshape(part, {batch, spread, image[1], image[2], image[3]});
    int64_t first = int64_t(tap) * depth.dilation;
    part = pad(node, part, 1, first, size - first - spread, zero);
    sum = sum ? node.add(sum, part) : part;
  }
  return node.slice(sum, 1, depth.before, depth.size);
}

} // namespace dtc::frontend
