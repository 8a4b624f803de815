//===- Shape.cpp - import of shape operators ------------------------------===//
//
// Sizes of the batch appear only in result types, never in attributes, so that
// a later phase may change the batch.
//
//===----------------------------------------------------------------------===//

#include "Ops/Operators.h"
#include "Ops/Stack.h"
#include "Ops/Take.h"
#include "Shapes/ShapeRules.h"

#include "dtc/Support/MaxElements.h"

#include <numeric>

using namespace llvm;
using mlir::Value;

namespace dtc::frontend {

namespace {
template <Expected<Shape> (*rule)(const Call &)>
Error importReshape(NodeBuilder &node) {
  Expected<Shape> shape = rule(node.call);
  if (!shape)
    return shape.takeError();
  node.setResult(0, node.reshape(node.operand(0), *shape));
  return Error::success();
}

Error importTranspose(NodeBuilder &node) {
  Expected<Shape> permutation = transposePermutation(node.call);
  if (!permutation)
    return permutation.takeError();
  node.setResult(0, node.transpose(node.operand(0), *permutation));
  return Error::success();
}

Error importExpand(NodeBuilder &node) {
  Expected<Shape> shape = expandShape(node.call);
  if (!shape)
    return shape.takeError();
  node.setResult(0, node.broadcast(node.operand(0), *shape));
  return Error::success();
}

/// Splits each dimension into (repetition, index), and joins them again.
Error importTile(NodeBuilder &node) {
  Expected<Shape> repeats = tileRepeats(node.call);
  if (!repeats)
    return repeats.takeError();
  Shape ones, pairs, shape;
  for (auto [repeat, dim] : zip(*repeats, node.call.shape(0))) {
    if (repeat > 1) {
      ones.push_back(1);
      pairs.push_back(repeat);
    }
    ones.push_back(dim);
    pairs.push_back(dim);
    shape.push_back(repeat * dim);
  }
  Value x = node.broadcast(node.reshape(node.operand(0), ones), pairs);
  node.setResult(0, node.reshape(x, shape));
  return Error::success();
}

/// Selects elements with a positive step: the first element of each group of
/// `step` elements. Applies if the groups do not reach past the end.
Value sliceByGroups(NodeBuilder &node, Value x, const DimRange &range) {
  int64_t first = range.start / range.step * range.step;
  Shape shape(node.shapeOf(x));
  if (first + range.size * range.step > shape[range.axis])
    return {};
  x = node.slice(x, range.axis, first, range.size * range.step);
  shape[range.axis] = range.size;
  Shape groups = shape;
  groups.insert(groups.begin() + range.axis + 1, range.step);
  Value group = node.slice(node.reshape(x, groups), range.axis + 1,
                           range.start - first, 1);
  return node.reshape(group, shape);
}

Expected<Value> sliceRange(NodeBuilder &node, Value x, const DimRange &range) {
  if (range.step == 1 || range.size == 1)
    return node.slice(x, range.axis, range.start, range.size);
  if (range.step > 1)
    if (Value result = sliceByGroups(node, x, range))
      return result;
  if (Error error = requireFoldable({range.size}))
    return std::move(error);
  Shape indices;
  for (int64_t i = 0; i < range.size; ++i)
    indices.push_back(range.start + i * range.step);
  return take(node, x, range.axis, indices);
}

Error importSlice(NodeBuilder &node) {
  const Call &call = node.call;
  auto ranges = sliceRanges(call);
  if (!ranges)
    return ranges.takeError();
  Value x = node.operand(0);
  for (const DimRange &range : *ranges) {
    // Only the shape of an empty tensor matters, when it is concatenated.
    if (range.size == 0) {
      Shape shape(node.shapeOf(x));
      shape[range.axis] = 0;
      x = node.constant(HostTensor(call.operands[0].dtype, shape));
    } else if (numElements(node.shapeOf(x)) > 0) {
      Expected<Value> part = sliceRange(node, x, range);
      if (!part)
        return part.takeError();
      x = *part;
    }
  }
  node.setResult(0, x);
  return Error::success();
}

Error importSplit(NodeBuilder &node) {
  const Call &call = node.call;
  auto axis = normalizeAxis(call.getInt("axis", 0), call.rank(0));
  if (!axis)
    return axis.takeError();
  auto sizes = splitSizes(call, call.shape(0)[*axis]);
  if (!sizes)
    return sizes.takeError();
  Value x = node.operand(0);
  if (sizes->size() == 1) {
    node.setResult(0, x);
    return Error::success();
  }
  SmallVector<mlir::Type> types;
  Shape shape(call.shape(0));
  for (int64_t size : *sizes) {
    shape[*axis] = size;
    types.push_back(node.typeOf(shape, node.elementType(x)));
  }
  auto split = node.create<SplitOp>(types, x, *axis);
  for (auto [i, part] : enumerate(split.getParts()))
    node.setResult(i, part);
  return Error::success();
}

Error importConcat(NodeBuilder &node) {
  const Call &call = node.call;
  if (Error error = node.requireSameTypes())
    return error;
  auto axis = normalizeAxis(call.getInt("axis", 0), call.rank(0));
  if (!axis)
    return axis.takeError();
  Expected<Shape> shape = concatShape(call, *axis);
  if (!shape)
    return shape.takeError();
  SmallVector<Value> parts;
  for (Value part : node.allOperands())
    if (node.shapeOf(part)[*axis] > 0)
      parts.push_back(part);
  Value joined = joinRounds(node, parts, *axis);
  node.setResult(0, joined          ? joined
                    : parts.empty() ? node.operand(0)
                                    : join(node, parts, *axis));
  return Error::success();
}

/// The source element for position `i` of a padded dimension. `i` may be
/// outside.
int64_t findPadded(StringRef mode, int64_t i, int64_t size) {
  if (mode == "edge")
    return std::clamp<int64_t>(i, 0, size - 1);
  if (mode == "wrap")
    return (i % size + size) % size;
  // Reflects at the first and the last element as often as needed.
  int64_t period = std::max<int64_t>(2 * (size - 1), 1);
  i = (i % period + period) % period;
  return std::min(i, period - i);
}

/// Pads a dimension. `before` and `after` are not negative.
Value padDimension(NodeBuilder &node, Value x, int64_t axis, int64_t before,
                   int64_t after, StringRef mode, const HostTensor &value) {
  Shape shape(node.shapeOf(x));
  if (mode != "constant") {
    Shape indices;
    for (int64_t i = -before; i < shape[axis] + after; ++i)
      indices.push_back(findPadded(mode, i, shape[axis]));
    return take(node, x, axis, indices);
  }
  return pad(node, x, axis, before, after, value);
}

/// Before opset 11 pads and value are attributes.
Expected<HostTensor> readFill(const Call &call) {
  HostTensor zero =
      HostTensor::scalar(call.operands[0].dtype,
                         call.hasOperand(2) ? 0 : call.getFloat("value", 0));
  if (!call.hasOperand(2))
    return zero;
  auto given = call.constant(2, "constant_value");
  if (!given)
    return given.takeError();
  if (Error error = call.requireScalars({2}))
    return std::move(error);
  return **given;
}

Error importPad(NodeBuilder &node) {
  const Call &call = node.call;
  StringRef mode = call.getString("mode", "constant");
  if (!is_contained({"constant", "reflect", "edge", "wrap"}, mode))
    return problem("mode '" + mode + "' is not supported",
                   "supported are constant, reflect, edge and wrap");
  Expected<HostTensor> value = readFill(call);
  if (!value)
    return value.takeError();
  auto pads = call.getIntsOrOperand("pads", 1);
  if (!pads)
    return pads.takeError();
  if (!*pads)
    return problem("operand 'pads' is missing");
  std::vector<int64_t> axes(call.rank(0));
  std::iota(axes.begin(), axes.end(), 0);
  if (call.hasOperand(3)) {
    auto given = call.constant(3, "axes");
    if (!given)
      return given.takeError();
    axes = (*given)->toInts();
  }
  if ((*pads)->size() != 2 * axes.size())
    return problem("pads has " + Twine((*pads)->size()) +
                   " elements, expected " + Twine(2 * axes.size()));
  Value x = node.operand(0);
  for (auto [i, given] : enumerate(axes)) {
    auto axis = normalizeAxis(given, call.rank(0));
    if (!axis)
      return axis.takeError();
    int64_t before = (**pads)[i], after = (**pads)[axes.size() + i];
    if (before < -maxElements || before > maxElements || after < -maxElements ||
        after > maxElements)
      return problem("pads dimension " + Twine(*axis) + " by " + Twine(before) +
                     " and " + Twine(after) + ", expected at most 2^48");
    // Negative pads remove elements.
    int64_t size = node.shapeOf(x)[*axis];
    int64_t start = std::max<int64_t>(-before, 0);
    int64_t kept = size - start - std::max<int64_t>(-after, 0);
    if (kept < 1)
      return problem("removes all elements of dimension " + Twine(*axis));
    x = node.slice(x, *axis, start, kept);
    before = std::max<int64_t>(before, 0);
    after = std::max<int64_t>(after, 0);
    if (before + after == 0)
      continue;
    if (mode != "constant")
      if (Error error = requireFoldable({before + kept + after}))
        return error;
    x = padDimension(node, x, *axis, before, after, mode, *value);
  }
  node.setResult(0, x);
  return Error::success();
}

/// Moves blocks of pixels to channels, or back. Images have their channels
/// first.
Error importBlocks(NodeBuilder &node) {
  const Call &call = node.call;
  int64_t block = call.getInt("blocksize", 0);
  bool toSpace = call.node.op_type() == "DepthToSpace";
  ArrayRef<int64_t> shape = call.shape(0);
  bool fits = block > 0 && block <= 1 << 15 && shape.size() == 4 &&
              (toSpace ? shape[1] % (block * block) == 0
                       : shape[2] % block == 0 && shape[3] % block == 0);
  if (!fits)
    return problem("operand " + toString(shape) +
                   " cannot be divided into blocks of size " + Twine(block));
  int64_t n = shape[0], c = shape[1], h = shape[2], w = shape[3];
  Value x = node.operand(0);
  if (!toSpace) {
    x = node.reshape(x, {n, c, h / block, block, w / block, block});
    x = node.transpose(x, {0, 3, 5, 1, 2, 4});
    node.setResult(
        0, node.reshape(x, {n, c * block * block, h / block, w / block}));
    return Error::success();
  }
  int64_t channels = c / (block * block);
  if (call.getString("mode", "DCR") == "CRD") {
    x = node.reshape(x, {n, channels, block, block, h, w});
    x = node.transpose(x, {0, 1, 4, 2, 5, 3});
  } else {
    x = node.reshape(x, {n, block, block, channels, h, w});
    x = node.transpose(x, {0, 3, 4, 1, 5, 2});
  }
  node.setResult(0, node.reshape(x, {n, channels, h * block, w * block}));
  return Error::success();
}

/// Builds a triangle as a mask of the last two dimensions.
Error importTrilu(NodeBuilder &node) {
  const Call &call = node.call;
  Expected<int64_t> k = triluDiagonal(call);
  if (!k)
    return k.takeError();
  Value x = node.operand(0);
  ArrayRef<int64_t> shape = call.shape(0).take_back(2);
  if (Error error = requireFoldable({shape[0] + shape[1]}))
    return error;
  Value row = node.add(node.countAlong(shape[0], 0, 2, DType::I64),
                       node.constant(HostTensor::scalar(DType::I64, *k)));
  Value mask =
      node.compare(call.getInt("upper", 1) ? Comparison::ge : Comparison::le,
                   node.countAlong(shape[1], 1, 2, DType::I64), row);
  node.setResult(0, call.operands[0].dtype == DType::Bool
                        ? node.elementwise<LogicalAndOp>({mask, x})
                        : node.select(mask, x, node.scalar(0, x)));
  return Error::success();
}
} // namespace

void addShapeOperators(OperatorTable &table) {
  table.add({
      {"Constant", 1, 0, 0,
       "value value_int value_ints value_float value_floats value_string "
       "value_strings sparse_value"},
      {"ConstantOfShape", 9, 1, 1, "value", nullptr, first},
      {"Shape", 1, 1, 1, "start end", nullptr, first},
      {"Size", 1, 1, 1, "", nullptr, first},
      {"EyeLike", 9, 1, 1, "dtype k", nullptr, first},
      {"Range", 11, 3, 3, ""},
      {"Reshape", 5, 2, 2, "allowzero", importReshape<reshapeShape>, second},
      {"Flatten", 1, 1, 1, "axis", importReshape<flattenShape>},
      {"Squeeze", 1, 1, 2, "axes", importReshape<squeezeShape>, second},
      {"Unsqueeze", 1, 1, 2, "axes", importReshape<unsqueezeShape>, second},
      {"Transpose", 1, 1, 1, "perm", importTranspose},
      {"Expand", 8, 2, 2, "", importExpand, second},
      {"Tile", 6, 2, 2, "", importTile, second},
      {"Slice", 1, 1, 5, "axes ends starts", importSlice, afterFirst},
      {"Split", 2, 1, 2, "axis split num_outputs", importSplit, second},
      {"Concat", 4, 1, any, "axis", importConcat},
      {"Pad", 2, 1, 4, "mode pads value", importPad, afterFirst},
      {"DepthToSpace", 1, 1, 1, "blocksize mode", importBlocks},
      {"SpaceToDepth", 1, 1, 1, "blocksize", importBlocks},
      {"Trilu", 14, 1, 2, "upper", importTrilu, second},
  });
}

} // namespace dtc::frontend
