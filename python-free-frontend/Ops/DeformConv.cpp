//===- DeformConv.cpp - import of deformable convolutions -----------------===//
//
// Each tap of the window reads the image at its own place, which depends on
// offsets (arXiv:1703.06211). A mask can scale the samples (arXiv:1811.11168).
// The samples of all taps become the channels of an image of the result's size.
// A convolution with a 1x1 window makes the result.
//
//===----------------------------------------------------------------------===//

#include "Ops/Operators.h"
#include "Ops/Sampling.h"
#include "Shapes/ShapeRules.h"
#include "Shapes/WindowRules.h"

using namespace llvm;
using mlir::Value;

namespace dtc::frontend {

namespace {
class DeformConvImporter {
public:
  explicit DeformConvImporter(NodeBuilder &node)
      : node(node), call(node.call) {}
  Error run();

private:
  Error checkOperands();
  Value findPlaces(const WindowDim &dim, Value offsets, bool isWidth);

  NodeBuilder &node;
  const Call &call;
  WindowDims window;
  int64_t batch, channels, groups, offsetGroups, taps;
};
} // namespace

/// Offsets are [batch, offset groups * taps * 2, ...] and masks [batch, offset
/// groups * taps, ...], over the positions of the result.
Error DeformConvImporter::checkOperands() {
  if (Error error = node.requireFloat(0))
    return error;
  if (Error error = node.requireSameTypes())
    return error;
  ArrayRef<int64_t> image = call.shape(0), weight = call.shape(1);
  if (image.size() != 4 || weight.size() != 4 || numElements(image) == 0 ||
      numElements(weight) == 0)
    return problem("has an operand " + toString(image) + " and a weight " +
                       toString(weight),
                   "supported are images with a height and a width, both not "
                   "empty");
  Expected<WindowDims> found = convWindow(call, weight.drop_front(2));
  if (!found)
    return found.takeError();
  window = *found;
  groups = call.getInt("group", 1);
  offsetGroups = call.getInt("offset_group", 1);
  batch = image[0], channels = image[1];
  taps = weight[2] * weight[3];
  if (groups < 1 || offsetGroups < 1 || channels % offsetGroups ||
      channels != weight[1] * groups || weight[0] % groups)
    return problem("weight " + toString(weight) + " in " + Twine(groups) +
                   " groups, and " + Twine(offsetGroups) +
                   " groups of offsets, do not fit the operand " +
                   toString(image));
  int64_t height = window.height().positions, width = window.width().positions;
  auto require = [&](unsigned i, const Shape &expected) -> Error {
    if (!call.hasOperand(i) || call.shape(i) == ArrayRef(expected))
      return Error::success();
    return problem("operand " + Twine(i) + " has shape " +
                   toString(call.shape(i)) + ", expected " +
                   toString(expected));
  };
  if (Error error = require(2, {batch, offsetGroups * taps * 2, height, width}))
    return error;
  if (Error error = require(3, {weight[0]}))
    return error;
  if (Error error = require(4, {batch, offsetGroups * taps, height, width}))
    return error;
  // Checks the size of the constants of findPlaces.
  if (Error error = requireFoldable({taps, height}))
    return error;
  return requireFoldable({taps, width});
}

/// Returns the places of all taps along one dimension: [batch * offset groups,
/// taps, height, width].
Value DeformConvImporter::findPlaces(const WindowDim &dim, Value offsets,
                                     bool isWidth) {
  Shape shape{1, taps, 1, 1};
  shape[isWidth ? 3 : 2] = dim.positions;
  HostTensor grid(call.operands[0].dtype, shape);
  int64_t width = window.width().kernel;
  for (int64_t tap = 0; tap < taps; ++tap) {
    int64_t along = isWidth ? tap % width : tap / width;
    for (int64_t position = 0; position < dim.positions; ++position)
      grid.setFloat(tap * dim.positions + position,
                    position * dim.stride - dim.before + along * dim.dilation);
  }
  Value moved = node.slice(offsets, 2, isWidth, 1);
  return node.add(node.reshape(moved, {batch * offsetGroups, taps,
                                       window.height().positions,
                                       window.width().positions}),
                  node.constant(grid));
}

Error DeformConvImporter::run() {
  if (Error error = checkOperands())
    return error;
  ArrayRef<int64_t> image = call.shape(0), weight = call.shape(1);
  int64_t height = window.height().positions, width = window.width().positions;
  int64_t part = channels / offsetGroups;
  Value offsets = node.reshape(node.operand(2),
                               {batch * offsetGroups, taps, 2, height, width});
  Value images = node.channelsLast(node.reshape(
      node.operand(0), {batch * offsetGroups, part, image[2], image[3]}));
  Value samples =
      sample(node, images,
             {makeLinearTaps(node, findPlaces(window.height(), offsets, false),
                             image[2]),
              makeLinearTaps(node, findPlaces(window.width(), offsets, true),
                             image[3])});
  if (call.hasOperand(4))
    samples = node.mul(
        samples, node.reshape(node.operand(4),
                              {batch * offsetGroups, taps, height, width, 1}));
  // [batch, height, width, channels, taps] is the order of the weight.
  samples = node.transpose(
      node.reshape(samples, {batch, offsetGroups, taps, height, width, part}),
      {0, 3, 4, 1, 5, 2});
  samples = node.reshape(samples, {batch, height, width, channels * taps});
  Value filters =
      node.reshape(node.operand(1), {weight[0], 1, 1, weight[1] * taps});
  Value y = node.create<Conv2DOp>(
      node.typeOf({batch, height, width, weight[0]}, node.elementType(samples)),
      samples, filters, ArrayRef<int64_t>{1, 1}, ArrayRef<int64_t>{0, 0, 0, 0},
      ArrayRef<int64_t>{1, 1});
  if (call.hasOperand(3))
    y = node.add(y, node.operand(3));
  node.setResult(0, node.channelsFirst(y));
  return Error::success();
}

static Error importDeformConv(NodeBuilder &node) {
  return DeformConvImporter(node).run();
}

void addDeformConvOperators(OperatorTable &table) {
  table.add({{"DeformConv", 19, 3, 5,
              "dilations group kernel_shape offset_group pads strides",
              importDeformConv}});
}

} // namespace dtc::frontend
