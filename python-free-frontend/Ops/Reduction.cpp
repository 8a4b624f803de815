//===- Reduction.cpp - import of reductions -------------------------------===//
//
// dtc reduces by sum or maximum and keeps reduced dimensions; all else is
// written in terms of these.
//
//===----------------------------------------------------------------------===//

#include "Operators.h"
#include "ShapeRules.h"

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
Value norm2(NodeBuilder &node, Value x, ArrayRef<int64_t> axes) {
  return node.elementwise<SqrtOp>(sumSquare(node, x, axes));
}
Value logSum(NodeBuilder &node, Value x, ArrayRef<int64_t> axes) {
  return node.elementwise<LogOp>(sum(node, x, axes));
}
/// The maximum is taken out first so that no exponential overflows.
Value logSumExp(NodeBuilder &node, Value x, ArrayRef<int64_t> axes) {
  Value largest = maximum(node, x, axes);
  Value shifted = node.elementwise<ExpOp>(node.sub(x, largest));
  return node.add(logSum(node, shifted, axes), largest);
}

using Reducer = Value (*)(NodeBuilder &, Value, ArrayRef<int64_t>);

template <Reducer reducer> Error importReduction(NodeBuilder &node) {
  if (Error error = node.requireFloat(0))
    return error;
  Expected<Reduction> plan = reduction(node.call);
  if (!plan)
    return plan.takeError();
  for (int64_t axis : plan->axes)
    if (node.call.shape(0)[axis] == 0)
      return problem("reduces an empty dimension");
  Value result = reducer(node, node.operand(0), plan->axes);
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
      {"ReduceSum", 1, 1, 2, attributes, importReduction<sum>},
      {"ReduceMean", 1, 1, 2, attributes, importReduction<mean>},
      {"ReduceMax", 1, 1, 2, attributes, importReduction<maximum>},
      {"ReduceMin", 1, 1, 2, attributes, importReduction<minimum>},
      {"ReduceSumSquare", 1, 1, 2, attributes, importReduction<sumSquare>},
      {"ReduceL1", 1, 1, 2, attributes, importReduction<norm1>},
      {"ReduceL2", 1, 1, 2, attributes, importReduction<norm2>},
      {"ReduceLogSum", 1, 1, 2, attributes, importReduction<logSum>},
      {"ReduceLogSumExp", 1, 1, 2, attributes, importReduction<logSumExp>},
      {"ReduceProd", 1, 1, 2, attributes},
      {"GlobalAveragePool", 1, 1, 1, "", importGlobalPool<mean>},
      {"GlobalMaxPool", 1, 1, 1, "", importGlobalPool<maximum>},
  });
}

} // namespace dtc::frontend
