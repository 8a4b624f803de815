//===- Reduction.cpp - import of reductions -------------------------------===//
//
// dtc reduces by sum or maximum, and keeps reduced dimensions. All other
// reductions are built from these.
//
//===----------------------------------------------------------------------===//

#include "Ops/Operators.h"
#include "Ops/Take.h"
#include "Shapes/ShapeRules.h"

using namespace llvm;
using mlir::Value;

namespace dtc::frontend {

namespace {
Value sum(NodeBuilder &node, Value x, ArrayRef<int64_t> axes) {
  return node.reduce<ReduceSumOp>(x, axes);
}
Value mean(NodeBuilder &node, Value x, ArrayRef<int64_t> axes) {
  return node.mean(x, axes);
}
Value maximum(NodeBuilder &node, Value x, ArrayRef<int64_t> axes) {
  return node.reduce<ReduceMaxOp>(x, axes);
}
Value minimum(NodeBuilder &node, Value x, ArrayRef<int64_t> axes) {
  return node.elementwise<NegOp>(
      maximum(node, node.elementwise<NegOp>(x), axes));
}
Value sumSquare(NodeBuilder &node, Value x, ArrayRef<int64_t> axes) {
  return sum(node, node.mul(x, x), axes);
}
Value norm1(NodeBuilder &node, Value x, ArrayRef<int64_t> axes) {
  return sum(node, node.elementwise<AbsOp>(x), axes);
}
/// A norm of 0 has gradient 0. The square root alone would give infinity.
Value norm2(NodeBuilder &node, Value x, ArrayRef<int64_t> axes) {
  Value square = sumSquare(node, x, axes), zero = node.scalar(0, x);
  Value isZero = node.compare(Comparison::eq, square, zero);
  Value root =
      node.elementwise<SqrtOp>(node.select(isZero, node.scalar(1, x), square));
  return node.select(isZero, zero, root);
}
Value logSum(NodeBuilder &node, Value x, ArrayRef<int64_t> axes) {
  return node.elementwise<LogOp>(sum(node, x, axes));
}
/// Subtracts the maximum first, so that no exponential overflows.
Value logSumExp(NodeBuilder &node, Value x, ArrayRef<int64_t> axes) {
  Value largest = maximum(node, x, axes);
  Value shifted = node.elementwise<ExpOp>(node.sub(x, largest));
  return node.add(logSum(node, shifted, axes), largest);
}

/// Multiplies two halves until one element is left.
Value product(NodeBuilder &node, Value x, ArrayRef<int64_t> axes) {
  for (int64_t axis : axes)
    for (int64_t size; (size = node.shapeOf(x)[axis]) > 1;) {
      int64_t half = size / 2;
      Value y = node.mul(node.slice(x, axis, 0, half),
                         node.slice(x, axis, half, half));
      if (size % 2)
        y = join(node, {y, node.slice(x, axis, size - 1, 1)}, axis);
      x = y;
    }
  return x;
}

using Reducer = Value (*)(NodeBuilder &, Value, ArrayRef<int64_t>);

/// Reduces integers and bools as floats that represent them exactly.
template <Reducer reducer> Error importReduction(NodeBuilder &node) {
  Expected<Reduction> plan = reduction(node.call);
  if (!plan)
    return plan.takeError();
  for (int64_t axis : plan->axes)
    if (node.call.shape(0)[axis] == 0)
      return problem("reduces an empty dimension");
  DType dtype = node.call.operands[0].dtype;
  Value x = node.cast(node.operand(0), isFloat(dtype) ? dtype : DType::F64);
  Value result = node.cast(reducer(node, x, plan->axes), dtype);
  node.setResult(0, node.reshape(result, plan->shape));
  return Error::success();
}

template <Reducer reducer> Error importGlobalPool(NodeBuilder &node) {
  if (Error error = node.requireFloat(0))
    return error;
  Shape axes;
  for (int64_t d = 2; d < node.call.rank(0); ++d)
    axes.push_back(d);
  node.setResult(0, reducer(node, node.operand(0), axes));
  return Error::success();
}
} // namespace

void addReductionOperators(OperatorTable &table) {
  StringRef attributes = "axes keepdims noop_with_empty_axes";
  table.add({
      {"ReduceSum", 1, 1, 2, attributes, importReduction<sum>, second},
      {"ReduceMean", 1, 1, 2, attributes, importReduction<mean>, second},
      {"ReduceMax", 1, 1, 2, attributes, importReduction<maximum>, second},
      {"ReduceMin", 1, 1, 2, attributes, importReduction<minimum>, second},
      {"ReduceSumSquare", 1, 1, 2, attributes, importReduction<sumSquare>,
       second},
      {"ReduceL1", 1, 1, 2, attributes, importReduction<norm1>, second},
      {"ReduceL2", 1, 1, 2, attributes, importReduction<norm2>, second},
      {"ReduceLogSum", 1, 1, 2, attributes, importReduction<logSum>, second},
      {"ReduceLogSumExp", 1, 1, 2, attributes, importReduction<logSumExp>,
       second},
      {"ReduceProd", 1, 1, 2, attributes, importReduction<product>, second},
      {"GlobalAveragePool", 1, 1, 1, "", importGlobalPool<mean>},
      {"GlobalMaxPool", 1, 1, 1, "", importGlobalPool<maximum>},
  });
}

} // namespace dtc::frontend
