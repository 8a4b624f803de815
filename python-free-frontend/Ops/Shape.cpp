//===- Shape.cpp - import of shape operators ------------------------------===//
//
// Sizes go into result types only, never into attributes, so that a later
// phase may change the batch.
//
//===----------------------------------------------------------------------===//

#include "Operators.h"
#include "ShapeRules.h"

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

/// A dimension becomes a pair (repetition, index), and one again.
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

Error importSlice(NodeBuilder &node) {
  auto ranges = sliceRanges(node.call);
  if (!ranges)
    return ranges.takeError();
  Value x = node.operand(0);
  for (const DimRange &range : *ranges) {
    if (range.size == 0)
      return problem("slices nothing out of dimension " + Twine(range.axis));
    if (range.step != 1 && range.size > 1)
      return problem("has step " + Twine(range.step) +
                         " at run time, supported is 1",
                     "use Reshape and Slice for larger steps");
    x = node.slice(x, range.axis, range.start, range.size);
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
  Value first = node.operand(0);
  if (node.allOperands().size() == 1)
    node.setResult(0, first);
  else
    node.setResult(
        0, node.create<ConcatOp>(node.typeOf(*shape, node.elementType(first)),
                                 node.allOperands(), *axis));
  return Error::success();
}

Error importPad(NodeBuilder &node) {
  const Call &call = node.call;
  if (Error error = node.requireFloat(0))
    return error;
  StringRef mode = call.getString("mode", "constant");
  if (mode != "constant")
    return problem("mode '" + mode + "' is not supported",
                   "pad with constant zeros");
  if (call.hasOperand(2)) {
    auto fill = call.constant(2, "constant_value");
    if (!fill)
      return fill.takeError();
    if ((*fill)->size() != 1 || (*fill)->getFloat(0) != 0)
      return problem("pads with a value other than 0", "pad with zeros");
  }
  auto pads = call.constant(1, "pads");
  if (!pads)
    return pads.takeError();
  std::vector<int64_t> axes(call.rank(0));
  for (auto [d, axis] : enumerate(axes))
    axis = d;
  if (call.hasOperand(3)) {
    auto given = call.constant(3, "axes");
    if (!given)
      return given.takeError();
    axes = (*given)->toInts();
  }
  if ((*pads)->size() != int64_t(2 * axes.size()))
    return problem("pads has " + Twine((*pads)->size()) +
                   " elements, expected " + Twine(2 * axes.size()));
  Value x = node.operand(0);
  for (auto [i, given] : enumerate(axes)) {
    auto axis = normalizeAxis(given, call.rank(0));
    if (!axis)
      return axis.takeError();
    int64_t before = (*pads)->getInt(i);
    int64_t after = (*pads)->getInt(axes.size() + i);
    if (before < 0 || after < 0)
      return problem("has negative pads", "use Slice to cut");
    if (before + after == 0)
      continue;
    Shape shape(node.shapeOf(x));
    shape[*axis] += before + after;
    x = node.create<PadOp>(node.typeOf(shape, node.elementType(x)), x, *axis,
                           before);
  }
  node.setResult(0, x);
  return Error::success();
}

/// The triangle is a mask of the last two dimensions.
Error importTrilu(NodeBuilder &node) {
  const Call &call = node.call;
  if (Error error = node.requireFloat(0))
    return error;
  if (call.rank(0) < 2)
    return problem("operand has rank " + Twine(call.rank(0)) +
                   ", expected at least 2");
  int64_t k = 0;
  if (call.hasOperand(1)) {
    auto given = call.constant(1, "k");
    if (!given)
      return given.takeError();
    if (Error error = call.requireScalars({1}))
      return error;
    k = (*given)->getInt(0);
  }
  bool upper = call.getInt("upper", 1);
  HostTensor mask(DType::Bool, call.shape(0).take_back(2));
  int64_t columns = mask.shape()[1];
  for (int64_t i = 0; i < mask.size(); ++i) {
    int64_t above = i % columns - i / columns - k;
    mask.setInt(i, upper ? above >= 0 : above <= 0);
  }
  Value x = node.operand(0);
  node.setResult(0, node.elementwise<SelectOp>(
                        {node.constant(mask), x, node.scalar(0, x)}, 1));
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
      {"Slice", 10, 3, 5, "", importSlice, afterFirst},
      {"Split", 2, 1, 2, "axis split num_outputs", importSplit, second},
      {"Concat", 4, 1, any, "axis", importConcat},
      {"Pad", 11, 2, 4, "mode", importPad, afterFirst},
      {"Trilu", 14, 1, 2, "upper", importTrilu, second},
  });
}

} // namespace dtc::frontend
