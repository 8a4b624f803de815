//===- ComposedNorms.cpp - import of norms built from others --------------===//
//
// A reshape turns norms of groups and instances into layer norms of rows. The
// other norms are built from sums.
//
//===----------------------------------------------------------------------===//

#include "Ops/Operators.h"
#include "Shapes/ShapeRules.h"

using namespace llvm;
using mlir::Value;

namespace dtc::frontend {

namespace {
/// Normalizes the last dimension to mean 0 and variance 1.
Value standardize(NodeBuilder &node, Value x, double epsilon) {
  Shape shape(node.shapeOf(x));
  mlir::Type element = node.elementType(x);
  Value scale = node.broadcast(node.scalar(1, x), {shape.back()});
  Value bias = node.broadcast(node.scalar(0, x), {shape.back()});
  Shape rows = shape;
  rows.back() = 1;
  mlir::Type types[] = {node.typeOf(shape, element), node.typeOf(rows, element),
                        node.typeOf(rows, element)};
  return node.create<LayerNormOp>(types, x, scale, bias, APFloat(epsilon))
      .getY();
}

/// Normalizes x [batch, channels, ...] over groups of channels. The scale and
/// the shift have an element for each channel, or for each group.
Error normalizeGroups(NodeBuilder &node, int64_t groups) {
  const Call &call = node.call;
  if (Error error = node.requireFloat(0))
    return error;
  if (Error error = node.requireSameTypes())
    return error;
  if (call.rank(0) < 2)
    return problem("operand is " + toString(call.shape(0)) +
                   ", expected [batch, channels] or more dimensions");
  int64_t batch = call.shape(0)[0], channels = call.shape(0)[1];
  int64_t positions = numElements(call.shape(0).drop_front(2));
  if (groups < 1 || channels % groups != 0)
    return problem("divides " + Twine(channels) + " channels into " +
                   Twine(groups) + " groups, expected a divisor");
  for (unsigned i = 1; i <= 2; ++i)
    if (call.shape(i) != ArrayRef<int64_t>{channels} &&
        call.shape(i) != ArrayRef<int64_t>{groups})
      return problem("operand " + Twine(i) + " has shape " +
                     toString(call.shape(i)) + ", expected [" +
                     Twine(channels) + "]");
  int64_t members = channels / groups;
  Value rows =
      node.reshape(node.operand(0), {batch, groups, members * positions});
  Value y =
      node.reshape(standardize(node, rows, call.getFloat("epsilon", 1e-5f)),
                   {batch, groups, members, positions});
  auto forChannels = [&](unsigned i) {
    bool perGroup = numElements(call.shape(i)) == groups;
    return node.reshape(node.operand(i), {groups, perGroup ? 1 : members, 1});
  };
  y = node.add(node.mul(y, forChannels(1)), forChannels(2));
  node.setResult(0, node.reshape(y, call.shape(0)));
  return Error::success();
}

Error importGroupNorm(NodeBuilder &node) {
  return normalizeGroups(node, node.call.getInt("num_groups", 1));
}

Error importInstanceNorm(NodeBuilder &node) {
  return normalizeGroups(node,
                         node.call.rank(0) > 1 ? node.call.shape(0)[1] : 1);
}

/// x / sqrt(mean(x^2) + epsilon) * scale.
Error importRmsNorm(NodeBuilder &node) {
  const Call &call = node.call;
  if (Error error = node.requireFloat(0))
    return error;
  if (Error error = node.requireSameTypes())
    return error;
  auto axis = normalizeAxis(call.getInt("axis", -1), call.rank(0));
  if (!axis)
    return axis.takeError();
  Expected<Shape> shape = broadcastOperands(call);
  if (!shape)
    return shape.takeError();
  if (ArrayRef(*shape) != call.shape(0))
    return problem("scale " + toString(call.shape(1)) +
                   " does not broadcast to " + toString(call.shape(0)));
  Value x = node.operand(0);
  Shape axes;
  for (int64_t d = *axis; d < call.rank(0); ++d)
    axes.push_back(d);
  Value square = node.add(node.mean(node.mul(x, x), axes),
                          node.scalar(call.getFloat("epsilon", 1e-5f), x));
  Value scale =
      node.elementwise<ReciprocalOp>(node.elementwise<SqrtOp>(square));
  node.setResult(0, node.mul(node.mul(x, scale), node.operand(1)));
  return Error::success();
}

/// x / |x|; 0 where |x| is 0.
Error importLpNorm(NodeBuilder &node) {
  const Call &call = node.call;
  if (Error error = node.requireFloat(0))
    return error;
  auto axis = normalizeAxis(call.getInt("axis", -1), call.rank(0));
  if (!axis)
    return axis.takeError();
  int64_t p = call.getInt("p", 2);
  if (p != 1 && p != 2)
    return problem("p is " + Twine(p) + ", expected 1 or 2");
  Value x = node.operand(0), one = node.scalar(1, x);
  Value terms = p == 1 ? node.elementwise<AbsOp>(x) : node.mul(x, x);
  Value sum = node.reduce<ReduceSumOp>(terms, {*axis});
  Value isZero = node.compare(Comparison::eq, sum, node.scalar(0, x));
  Value divisor = node.select(isZero, one, sum);
  if (p == 2)
    divisor = node.elementwise<SqrtOp>(divisor);
  node.setResult(0, node.elementwise<DivOp>({x, divisor}));
  return Error::success();
}

/// (x - mean) / (standard deviation + 1e-9), which is ONNX's definition.
Error importMeanVarianceNorm(NodeBuilder &node) {
  const Call &call = node.call;
  if (Error error = node.requireFloat(0))
    return error;
  std::vector<int64_t> given =
      call.getInts("axes").value_or(std::vector<int64_t>{0, 2, 3});
  auto axes = normalizeAxes(given, call.rank(0));
  if (!axes)
    return axes.takeError();
  Value x = node.operand(0);
  Value centered = node.sub(x, node.mean(x, *axes));
  Value deviation =
      node.elementwise<SqrtOp>(node.mean(node.mul(centered, centered), *axes));
  node.setResult(0, node.elementwise<DivOp>(
                        {centered, node.add(deviation, node.scalar(1e-9, x))}));
  return Error::success();
}
} // namespace

void addComposedNormOperators(OperatorTable &table) {
  table.add({
      {"GroupNormalization", 18, 3, 3, "epsilon num_groups stash_type",
       importGroupNorm},
      {"InstanceNormalization", 6, 3, 3, "epsilon", importInstanceNorm},
      {"RMSNormalization", 23, 2, 2, "axis epsilon stash_type", importRmsNorm},
      {"LpNormalization", 1, 1, 1, "axis p", importLpNorm},
      {"MeanVarianceNormalization", 9, 1, 1, "axes", importMeanVarianceNorm},
  });
}

} // namespace dtc::frontend
