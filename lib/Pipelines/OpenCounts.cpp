//===- OpenCounts.cpp - counts that depend on the number of replicas ------===//
//
// A model that takes a mean over its batch has the number of samples as a
// constant. With --dp auto only the launch sets the number of replicas, so an
// op computes that constant from an input of the step
// (docs/Architecture/Parallel.md).
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/StepFunction.h"
#include "dtc/Pipelines/Pipelines.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace dtc;

namespace {

/// A count: offset + slope * replicas, or the inverse of that.
struct Count {
  double offset, slope;
  bool isInverse;
};

std::optional<APFloat> getOnlyFloat(ConstantOp op) {
  auto elements = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!elements || !elements.isSplat() ||
      !isa<FloatType>(elements.getElementType()))
    return std::nullopt;
  return elements.getSplatValue<APFloat>();
}

/// Fits a line to `values` whose points are rounded to `tolerance`, relative to
/// the terms of the sum. Prefers a line through 0: its slope is exact.
std::optional<Count> fitLine(ArrayRef<double> values,
                             ArrayRef<int64_t> replicas, double tolerance) {
  auto first = double(replicas[0]), second = double(replicas[1]);
  Count line{0, values[0] / first, false};
  auto holds = [&] {
    return llvm::all_of(llvm::zip(values, replicas), [&](auto pair) {
      auto [value, count] = pair;
      double growth = line.slope * double(count);
      double error = std::abs(value - line.offset - growth);
      return error <= tolerance * (std::abs(line.offset) + std::abs(growth));
    });
  };
  if (holds())
    return line;
  line.slope = (values[1] - values[0]) / (second - first);
  line.offset = values[0] - line.slope * first;
  return holds() ? std::optional(line) : std::nullopt;
}

/// Fits the dependence of a floating-point number on the number of replicas.
/// Returns none if neither the number nor its inverse is linear in it.
std::optional<Count> fit(ArrayRef<ConstantOp> versions,
                         ArrayRef<int64_t> replicas) {
  SmallVector<double> values, inverses;
  double tolerance = 0;
  for (ConstantOp op : versions) {
    std::optional<APFloat> value = getOnlyFloat(op);
    if (!value)
      return std::nullopt;
    values.push_back(value->convertToDouble());
    inverses.push_back(1 / values.back()); // 1/(N-1) for N = 1: 1/inf = 0
    int precision = APFloat::semanticsPrecision(value->getSemantics());
    tolerance = std::ldexp(8.0, -precision);
  }
  auto areFinite = [](ArrayRef<double> numbers) {
    return llvm::all_of(numbers, [](double x) { return std::isfinite(x); });
  };
  std::optional<Count> line;
  if (areFinite(values))
    line = fitLine(values, replicas, tolerance);
  if (line || !areFinite(inverses))
    return line;
  line = fitLine(inverses, replicas, tolerance);
  if (line)
    line->isInverse = true;
  return line;
}

/// Replaces a constant by ops that compute it from the number of replicas.
LogicalResult open(ConstantOp op, const Count &count) {
  FailureOr<Value> replicas =
      getScalarInput(op->getParentOfType<func::FuncOp>(), replicasKind);
  if (failed(replicas))
    return failure();
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto scalar = RankedTensorType::get({}, b.getF64Type());
  auto number = [&](double of) -> Value {
    return ConstantOp::create(b, scalar, DenseElementsAttr::get(scalar, of));
  };
  Value result = MulOp::create(b, number(count.slope), *replicas);
  if (count.offset != 0)
    result = AddOp::create(b, result, number(count.offset));
  if (count.isInverse)
    result = DivOp::create(b, number(1), result);
  auto type = cast<RankedTensorType>(op.getType());
  if (!type.getElementType().isF64())
    result = CastOp::create(b, RankedTensorType::get({}, type.getElementType()),
                            result);
  if (type.getRank() > 0)
    result = BroadcastOp::create(b, type, result);
  op.getResult().replaceAllUsesWith(result);
  op.erase();
  return success();
}

} // namespace

LogicalResult dtc::openCounts(ArrayRef<ModuleOp> models,
                              ArrayRef<int64_t> replicas) {
  SmallVector<SmallVector<ConstantOp>> constants; // by model
  for (ModuleOp model : models) {
    auto forward = model.lookupSymbol<func::FuncOp>(forwardName);
    constants.emplace_back(forward.getOps<ConstantOp>());
    int64_t count = replicas[constants.size() - 1];
    if (constants.back().size() != constants.front().size())
      return model.emitError("--dp auto: the batch of ")
             << count << (count == 1 ? " replica" : " replicas")
             << " gives other ops than that of " << replicas.front()
             << "; use a larger --batch, or --dp with a number";
  }
  for (size_t i : llvm::seq(constants.front().size())) {
    auto versions =
        llvm::map_to_vector(constants, [&](const auto &own) { return own[i]; });
    ConstantOp first = versions.front();
    auto isLike = [&](ConstantOp op) {
      return op.getType() == first.getType();
    };
    auto isSame = [&](ConstantOp op) {
      return op.getValue() == first.getValue();
    };
    // Constants with a row for each sample are compared after lowering.
    if (!llvm::all_of(versions, isLike) || llvm::all_of(versions, isSame))
      continue;
    std::optional<Count> count = fit(versions, replicas);
    if (!count)
      return first.emitError("--dp auto: the model computes a number of the "
                             "size of its batch that does not grow by the same "
                             "with each replica; use --dp with a number");
    for (ConstantOp op : versions)
      if (failed(open(op, *count)))
        return failure();
  }
  return success();
}
