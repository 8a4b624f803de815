//===- ExpandBatchNorm.cpp - expand batch normalisation -------------------===//
//
// Batch normalisation becomes sums and elementwise ops, from which gradients
// and communication follow.
//
//===----------------------------------------------------------------------===//

#include "ExpandTrainingOps.h"
#include "Loss/BatchCount.h"
#include "dtc/Dialect/Elementwise.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace dtc;

static RankedTensorType getType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

//===----------------------------------------------------------------------===//
// Formulas
//===----------------------------------------------------------------------===//

namespace {

/// Builds the formula of one normalisation.
class Formula {
public:
  explicit Formula(BatchNormOp op) : op(op), builder(op.getLoc(), op) {}

  Value scalar(double value) {
    auto type = RankedTensorType::get({}, op.getX().getType().getElementType());
    return ConstantOp::create(
        builder, type,
        DenseElementsAttr::get(
            type, builder.getFloatAttr(type.getElementType(), value)));
  }
  /// Casts a tensor<f64> to the element type.
  Value toElement(Value value) {
    return CastOp::create(
        builder, getType(value).clone(op.getX().getType().getElementType()),
        value);
  }
  Value add(Value a, Value b) { return AddOp::create(builder, a, b); }
  Value sub(Value a, Value b) { return SubOp::create(builder, a, b); }
  Value mul(Value a, Value b) { return MulOp::create(builder, a, b); }
  Value sum(Value x, ArrayRef<int64_t> axes) {
    return ReduceSumOp::create(builder, x, axes);
  }
  Value reshape(Value x, ArrayRef<int64_t> shape) {
    return ReshapeOp::create(builder, getType(x).clone(shape), x);
  }

  /// centered / sqrt(variance + epsilon) * scale + bias.
  Value normalize(Value centered, Value variance) {
    Value deviation = SqrtOp::create(
        builder, add(variance, scalar(op.getEpsilon().convertToDouble())));
    Value factor = mul(ReciprocalOp::create(builder, deviation), op.getScale());
    // Give each group its bias: the gradient is then the sum of dy in the
    // group, which the gradient of the mean needs, too.
    Value bias = op.getBias();
    if (getType(bias) != getType(factor))
      bias = BroadcastOp::create(builder, getType(factor), bias);
    return add(mul(centered, factor), bias);
  }

  BatchNormOp op;
  ImplicitLocOpBuilder builder;
};

} // namespace

/// Normalises by the running statistics, which are not trained.
static void expandRunning(BatchNormOp op) {
  Formula f(op);
  for (Value value : {op.getMean(), op.getVariance()})
    if (auto argument = dyn_cast<BlockArgument>(value);
        argument && getArgString(argument, attr::parameter))
      cast<func::FuncOp>(op->getParentOp())
          .setArgAttr(argument.getArgNumber(), attr::frozen,
                      f.builder.getUnitAttr());
  Value centered = f.sub(op.getX(), op.getMean());
  op.replaceAllUsesWith(f.normalize(centered, op.getVariance()));
  op.erase();
}

//===----------------------------------------------------------------------===//
// Groups of samples
//===----------------------------------------------------------------------===//

namespace {

/// Splits the batch, dimension 0, into groups of samples with their own
/// statistics. [batch, ...] stays [groups, batch / groups, ...] as long as ops
/// allow it, so that ops on the same elements share kernels. A single group is
/// a dimension too, for the only micro-batch.
class Groups {
public:
  explicit Groups(int64_t count) : count(count) {}

  /// Returns the value with its groups as a dimension.
  Value enter(OpBuilder &builder, Value value) {
    if (Value grouped = groupedOf.lookup(value))
      return grouped;
    RankedTensorType type = getType(value);
    SmallVector<int64_t> shape = {count, type.getDimSize(0) / count};
    llvm::append_range(shape, type.getShape().drop_front());
    Value grouped =
        ReshapeOp::create(builder, value.getLoc(), type.clone(shape), value);
    groupedOf[value] = grouped;
    return grouped;
  }

  /// Returns the value without that dimension.
  Value leave(OpBuilder &builder, Value grouped) {
    RankedTensorType type = getType(grouped);
    SmallVector<int64_t> shape(type.getShape().drop_front());
    shape[0] *= count;
    Value value = ReshapeOp::create(builder, grouped.getLoc(),
                                    type.clone(shape), grouped);
    groupedOf[value] = grouped;
    return value;
  }

  /// Computes an elementwise op of grouped values in groups.
  void sink(Operation *op);

  const int64_t count;

private:
  DenseMap<Value, Value> groupedOf;
};

} // namespace

void Groups::sink(Operation *op) {
  if (!isElementwise(op))
    return;
  OpResult result = op->getResult(0);
  RankedTensorType type = getType(result);
  auto hasBatch = [&](Value operand) {
    RankedTensorType own = getType(operand);
    return own.getRank() > 0 && own.getRank() == type.getRank() &&
           own.getDimSize(0) == type.getDimSize(0);
  };
  if (llvm::none_of(op->getOperands(), [&](Value operand) {
        return hasBatch(operand) && operand.getDefiningOp<ReshapeOp>() &&
               groupedOf.contains(operand);
      }))
    return;
  OpBuilder builder(op);
  for (OpOperand &operand : op->getOpOperands())
    if (hasBatch(operand.get()))
      operand.set(enter(builder, operand.get()));
  SmallVector<int64_t> shape = {count, type.getDimSize(0) / count};
  llvm::append_range(shape, type.getShape().drop_front());
  result.setType(type.clone(shape));
  builder.setInsertionPointAfter(op);
  Value value = leave(builder, result);
  result.replaceAllUsesExcept(value, value.getDefiningOp());
}

//===----------------------------------------------------------------------===//
// Expansion of a step
//===----------------------------------------------------------------------===//

namespace {

class Expansion {
public:
  Expansion(func::FuncOp step, const BatchNormGroups &options)
      : step(step), options(options) {}

  LogicalResult run();

private:
  FailureOr<int64_t> countGroups(BatchNormOp first);
  LogicalResult expand(BatchNormOp op, Groups &groups);
  Value getCount(Formula &f, int64_t count, bool isOfGroups);
  Value getAverageFactor(Formula &f, int64_t groups, int64_t correctedFrom);
  LogicalResult updateStatistic(Formula &f, Value running, Value ofGroups,
                                int64_t correctedFrom);

  func::FuncOp step;
  const BatchNormGroups &options;
  /// The new value of each running statistic.
  llvm::MapVector<BlockArgument, Value> updated;
};

} // namespace

FailureOr<int64_t> Expansion::countGroups(BatchNormOp first) {
  StringRef kind = options.statistics;
  if (kind == "micro")
    return options.microbatches;
  if (kind == "local")
    return options.microbatches * options.dp;
  if (kind != "global")
    return first.emitError("batch norm by statistics '")
           << kind << "', expected global, micro, local or frozen";
  if (options.microbatches != 1)
    return first.emitError("batch norm needs the statistics of the whole "
                           "batch before a step's ")
           << options.microbatches
           << " micro-batches are there; use one micro-batch, or normalise "
              "with --batchnorm micro (each micro-batch by its own "
              "statistics), local (each rank's part of it) or frozen (by the "
              "running ones)";
  return 1;
}

/// Whether two values are the same, or equal functions of constants.
static bool areEqual(Value a, Value b) {
  Operation *x = a.getDefiningOp(), *y = b.getDefiningOp();
  return a == b || (x && y &&
                    OperationEquivalence::isEquivalentTo(
                        x, y,
                        [](Value first, Value second) {
                          return success(areEqual(first, second));
                        },
                        /*markEquivalent=*/nullptr,
                        OperationEquivalence::IgnoreLocations));
}

/// Whether a use of a running statistic belongs to the same module. A use on
/// another stage counts too, as it has an error of its own.
static bool isOwnUse(OpOperand &use, BatchNormOp op, unsigned number,
                     bool hasCrossed = false) {
  if (auto boundary = dyn_cast<BoundaryOp>(use.getOwner()))
    return llvm::all_of(boundary.getY().getUses(), [&](OpOperand &later) {
      return isOwnUse(later, op, number, /*hasCrossed=*/true);
    });
  auto other = dyn_cast<BatchNormOp>(use.getOwner());
  return other && use.getOperandNumber() == number &&
         (hasCrossed || llvm::equal(other.getOperands().drop_front(),
                                    op.getOperands().drop_front(), areEqual));
}

/// Checks that running statistics have no other uses: any other meaning of the
/// tensor would be averaged, too.
static LogicalResult verifyStatistics(BatchNormOp op) {
  for (unsigned number : {3, 4})
    for (OpOperand &use : op->getOperand(number).getUses())
      if (!isOwnUse(use, op, number))
        return op.emitError("keeps running statistics in a tensor that has "
                            "other uses, too; save the model with a separate "
                            "tensor for each");
  return success();
}

/// The number of groups, or of the elements in one. More replicas mean more
/// groups of equal size, or equally many larger groups.
Value Expansion::getCount(Formula &f, int64_t count, bool isOfGroups) {
  bool isOne = isOfGroups != (options.statistics == "local");
  return createBatchCount(f.builder, count, isOne ? 0 : options.replicas);
}

/// The factor from the sum over groups to the mean. If `correctedFrom` is not
/// 0, also corrects the variance of a distribution of which each group is a
/// sample of that many elements. Null for 1.
Value Expansion::getAverageFactor(Formula &f, int64_t groups,
                                  int64_t correctedFrom) {
  if (options.replicas == 0) {
    double n = double(correctedFrom);
    double factor = (correctedFrom ? n / (n - 1) : 1) / double(groups);
    return factor == 1 ? Value() : f.scalar(factor);
  }
  Value factor = ReciprocalOp::create(f.builder, getCount(f, groups, true));
  if (correctedFrom) {
    Value n = getCount(f, correctedFrom, false);
    Value one = createBatchCount(f.builder, 1, 0);
    factor = f.mul(factor, DivOp::create(f.builder, n, f.sub(n, one)));
  }
  return f.toElement(factor);
}

/// running = momentum * running + (1 - momentum) * the mean over groups.
LogicalResult Expansion::updateStatistic(Formula &f, Value value,
                                         Value ofGroups,
                                         int64_t correctedFrom) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument)
    return f.op.emitError("updates running statistics that another stage has; "
                          "keep the uses of this normalisation on one stage");
  if (!getArgString(argument, attr::parameter))
    return success();
  int64_t groups =
      getType(ofGroups).getNumElements() / getType(value).getNumElements();
  Value mean = f.reshape(f.sum(ofGroups, {0}), getType(value).getShape());
  if (Value factor = getAverageFactor(f, groups, correctedFrom))
    mean = f.mul(mean, factor);
  for (StringRef name : {attr::frozen, attr::statistic})
    step.setArgAttr(argument.getArgNumber(), name, f.builder.getUnitAttr());
  // Several uses of one module update the statistic in sequence.
  Value &current = updated[argument];
  current = AverageOp::create(f.builder, argument.getType(),
                              current ? current : Value(argument), mean,
                              f.op.getMomentum());
  return success();
}

LogicalResult Expansion::expand(BatchNormOp op, Groups &groups) {
  ArrayRef<int64_t> shape = op.getX().getType().getShape();
  int64_t samples = shape[0];
  if (samples % groups.count != 0)
    return op.emitError("batch norm of ")
           << op.getX().getType() << " in " << groups.count
           << " parts, which do not divide its " << samples << " samples";
  int64_t elements =
      op.getX().getType().getNumElements() / (shape.back() * groups.count);
  int64_t replicas = options.statistics == "local" ? 0 : options.replicas;
  if (elements == std::max<int64_t>(replicas, 1)) // of one replica alone
    return op.emitError("batch norm by the statistics of one element of each "
                        "channel, which are the element itself; use a larger "
                        "--batch, or fewer micro-batches");
  Formula f(op);
  Value x = groups.enter(f.builder, op.getX());
  auto axes = llvm::to_vector(llvm::seq<int64_t>(1, getType(x).getRank() - 1));
  Value inverse = options.replicas
                      ? f.toElement(ReciprocalOp::create(
                            f.builder, getCount(f, elements, false)))
                      : f.scalar(1 / double(elements));
  Value mean = f.mul(f.sum(x, axes), inverse);
  // The gradient of the variance by the mean is -2 / n times the sum of
  // deviations, which is 0.
  Value deviations = f.sub(x, StopGradientOp::create(f.builder, mean));
  Value variance = f.mul(f.sum(f.mul(deviations, deviations), axes), inverse);
  Value y = f.normalize(f.sub(x, mean), variance);
  // The running variance is that of the distribution, not of the sample.
  if (failed(updateStatistic(f, op.getMean(), mean, 0)) ||
      failed(updateStatistic(f, op.getVariance(), variance, elements)))
    return failure();
  op.replaceAllUsesWith(groups.leave(f.builder, y));
  op.erase();
  return success();
}

LogicalResult Expansion::run() {
  SmallVector<BatchNormOp> norms, running;
  for (auto op : step.getOps<BatchNormOp>())
    (op.getRunning() ? running : norms).push_back(op);
  if (norms.empty()) {
    llvm::for_each(running, expandRunning);
    if (options.statistics == "global")
      return success();
    return step.emitError("the model has no batch norm for --batchnorm ")
           << options.statistics << "; leave the option out";
  }
  for (BatchNormOp op : norms)
    if (failed(verifyStatistics(op)))
      return failure();
  llvm::for_each(running, expandRunning);
  if (options.statistics == "frozen") {
    llvm::for_each(norms, expandRunning);
    return success();
  }
  FailureOr<int64_t> count = countGroups(norms.front());
  if (failed(count))
    return failure();

  Groups groups(*count);
  for (Operation &op :
       llvm::make_early_inc_range(step.front().without_terminator()))
    if (auto norm = dyn_cast<BatchNormOp>(op)) {
      if (failed(expand(norm, groups)))
        return failure();
    } else {
      groups.sink(&op);
    }

  Results results;
  results.keep(step, attr::output);
  for (auto [argument, value] : updated)
    results.add(value, attr::parameter,
                getArgString(argument, attr::parameter));
  results.assignTo(step);
  eraseDeadOps(step);
  return success();
}

LogicalResult dtc::expandBatchNorms(func::FuncOp step,
                                    const BatchNormGroups &groups) {
  return Expansion(step, groups).run();
}
