//===- Ordering.cpp - import of operators on element order ----------------===//
//
// ArgMax, ArgMin and TopK compare all elements of a row with its largest one or
// with each other; CumSum adds all elements up to each position. Kernels
// compute such tables of pairs element by element, without storing them.
//
//===----------------------------------------------------------------------===//

#include "Ops/KnownValues.h"
#include "Ops/Operators.h"
#include "Shapes/ShapeRules.h"

using namespace llvm;
using mlir::Value;

namespace dtc::frontend {

namespace {
/// Operand 0 as floats that represent its values exactly.
Value asFloat(NodeBuilder &node) {
  return node.cast(node.operand(0), isFloat(node.call.operands[0].dtype)
                                        ? node.call.operands[0].dtype
                                        : DType::F64);
}

/// Finds the largest element by a key for its position. Among equal elements
/// the largest key wins; keys count down to find the first position.
template <bool largest> Error importArg(NodeBuilder &node) {
  const Call &call = node.call;
  int64_t rank = call.rank(0);
  auto axis = normalizeAxis(call.getInt("axis", 0), rank);
  if (!axis)
    return axis.takeError();
  bool last = call.getInt("select_last_index", 0);
  int64_t size = call.shape(0)[*axis];
  if (Error error = requireFoldable({size}))
    return error;
  Value x = asFloat(node);
  if (!largest)
    x = node.elementwise<NegOp>(x);
  DType dtype = fromType(node.elementType(x));
  Value isBest =
      node.compare(Comparison::eq, x, node.reduce<ReduceMaxOp>(x, {*axis}));
  Value number = node.countAlong(size, *axis, rank, dtype);
  Value top = node.scalar(size - 1, x);
  Value key = last ? number : node.sub(top, number);
  Value best = node.reduce<ReduceMaxOp>(
      node.select(isBest, key, node.scalar(0, x)), {*axis});
  Value found = node.cast(last ? best : node.sub(top, best), DType::I64);
  Shape shape(node.shapeOf(found));
  if (!call.getInt("keepdims", 1))
    shape.erase(shape.begin() + *axis);
  node.setResult(0, node.reshape(found, shape));
  return Error::success();
}

/// Counts the elements that come before each element of the last dimension.
/// Equal elements keep their order.
Value rankElements(NodeBuilder &node, Value x, bool largest) {
  Shape shape(node.shapeOf(x)), rows = shape, columns = shape;
  int64_t rank = shape.size(), size = shape.back();
  rows.push_back(1);
  columns.insert(columns.end() - 1, 1);
  Value own = node.reshape(x, rows), other = node.reshape(x, columns);
  Value isBefore =
      node.compare(largest ? Comparison::gt : Comparison::lt, other, own);
  Value isEarlier = node.compare(
      Comparison::lt, node.countAlong(size, rank, rank + 1, DType::I32),
      node.countAlong(size, rank - 1, rank + 1, DType::I32));
  Value isEqual = node.compare(Comparison::eq, other, own);
  Value precedes = node.elementwise<LogicalOrOp>(
      {isBefore, node.elementwise<LogicalAndOp>({isEqual, isEarlier})});
  Value count = node.reduce<ReduceSumOp>(
      node.cast(precedes, fromType(node.elementType(x))), {rank});
  return node.reshape(count, shape);
}

/// The indices are the elements of rank 0 .. k-1. Values are looked up, so that
/// each gradient reaches its element.
Error importTopK(NodeBuilder &node) {
  const Call &call = node.call;
  int64_t rank = call.rank(0);
  auto given = call.getIntsOrOperand("k", 1);
  if (!given)
    return given.takeError();
  if (call.attribute("k"))
    *given = std::vector<int64_t>{call.getInt("k", 0)};
  auto axis = normalizeAxis(call.getInt("axis", -1), rank);
  if (!axis)
    return axis.takeError();
  int64_t size = call.shape(0)[*axis];
  if (!*given || (*given)->size() != 1 || (**given)[0] < 1 ||
      (**given)[0] > size)
    return problem("k is not a number from 1 to " + Twine(size) +
                   ", the size of dimension " + Twine(*axis));
  int64_t k = (**given)[0];
  if (Error error = requireFoldable({size}))
    return error;
  auto toLast = [&](Value y) { return node.swapDims(y, *axis, rank - 1); };
  Value x = toLast(asFloat(node));
  Value ranks = rankElements(node, x, call.getInt("largest", 1));
  Shape shape(node.shapeOf(ranks));
  shape.insert(shape.end() - 1, 1);
  DType dtype = fromType(node.elementType(x));
  Value isPlace = node.compare(Comparison::eq, node.reshape(ranks, shape),
                               node.countAlong(k, rank - 1, rank + 1, dtype));
  Value number = node.countAlong(size, rank, rank + 1, dtype);
  // NaN makes ranks equal. The maximum still gives an index inside of the row.
  Value found = node.reduce<ReduceMaxOp>(
      node.select(isPlace, number, node.scalar(0, x)), {rank});
  shape = Shape(node.shapeOf(x));
  shape.back() = k;
  Value indices = node.cast(node.reshape(found, shape), DType::I64);
  markDistinct(indices, rank - 1);
  node.setResult(0, toLast(node.create<GatherOp>(toLast(node.operand(0)),
                                                 indices, rank - 1)));
  if (node.hasResult(1))
    node.setResult(1, toLast(indices));
  return Error::success();
}

/// Element i is the sum of all elements up to i.
Error importCumSum(NodeBuilder &node) {
  const Call &call = node.call;
  int64_t rank = call.rank(0);
  auto given = call.constant(1, "axis");
  if (!given)
    return given.takeError();
  if (Error error = call.requireScalars({1}))
    return error;
  auto axis = normalizeAxis((*given)->getInt(0), rank);
  if (!axis)
    return axis.takeError();
  bool exclusive = call.getInt("exclusive", 0);
  bool reverse = call.getInt("reverse", 0);
  Comparison predicate = reverse
                             ? (exclusive ? Comparison::gt : Comparison::ge)
                             : (exclusive ? Comparison::lt : Comparison::le);
  Value x = asFloat(node);
  Shape shape(call.shape(0)), pairs = shape;
  pairs.insert(pairs.begin() + *axis, 1);
  int64_t size = shape[*axis];
  if (Error error = requireFoldable({size}))
    return error;
  Value isAdded = node.compare(
      predicate, node.countAlong(size, *axis + 1, rank + 1, DType::I32),
      node.countAlong(size, *axis, rank + 1, DType::I32));
  Value added = node.select(isAdded, node.reshape(x, pairs), node.scalar(0, x));
  Value sum = node.reduce<ReduceSumOp>(added, {*axis + 1});
  node.setResult(0,
                 node.cast(node.reshape(sum, shape), call.operands[0].dtype));
  return Error::success();
}
} // namespace

void addOrderingOperators(OperatorTable &table) {
  StringRef attributes = "axis keepdims select_last_index";
  table.add({
      {"ArgMax", 1, 1, 1, attributes, importArg<true>, first},
      {"ArgMin", 1, 1, 1, attributes, importArg<false>, first},
      {"TopK", 1, 1, 2, "axis k largest sorted", importTopK, second},
      {"CumSum", 11, 2, 2, "exclusive reverse", importCumSum, second},
  });
}

} // namespace dtc::frontend
