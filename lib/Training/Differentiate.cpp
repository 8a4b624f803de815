//===- Differentiate.cpp - append the backward pass -----------------------===//
//
// Reverse-mode differentiation of the loss with respect to the trained
// parameters.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/StepFunction.h"
#include "dtc/Support/CloseNames.h"
#include "dtc/Training/DifferentiableInterface.h"
#include "dtc/Training/Passes.h"
#include "llvm/Support/GlobPattern.h"

namespace dtc {
#define GEN_PASS_DEF_DIFFERENTIATE
#include "dtc/Training/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

namespace {

/// The ops that gradients flow through: those on a path from a trained
/// parameter to the loss.
struct Paths {
  /// Values that depend on a trained parameter, with the first such parameter.
  DenseMap<Value, BlockArgument> sources;
  /// The ops in the order of execution.
  SmallVector<Operation *> ops;

  Paths(func::FuncOp step, Value loss, ArrayRef<BlockArgument> trainable);
};

/// Builds gradients backward from the loss.
class Backward {
public:
  Backward(func::FuncOp step, const Paths &paths)
      : paths(paths), builder(getReturn(step)) {}

  /// Builds the gradients of the loss, multiplied by `scale` if it is not null.
  LogicalResult run(Value loss, Value scale);
  Value getGradient(Value value) const { return gradients.lookup(value); }

private:
  LogicalResult visit(Operation *op);
  Value convert(Value gradient, Type type);
  void accumulate(Value value, Value gradient, Location loc);

  const Paths &paths;
  OpBuilder builder;
  DenseMap<Value, Value> gradients;
};

struct DifferentiatePass : dtc::impl::DifferentiateBase<DifferentiatePass> {
  using DifferentiateBase::DifferentiateBase;
  void runOnOperation() override;

private:
  LogicalResult freezeParameters(func::FuncOp step);
};

} // namespace

static StringRef getParameterName(BlockArgument argument) {
  StringAttr name = getArgString(argument, attr::parameter);
  return name ? name.getValue() : StringRef();
}

static SmallVector<BlockArgument> getParameters(func::FuncOp step) {
  return llvm::filter_to_vector(step.getArguments(), [](BlockArgument arg) {
    return bool(getArgString(arg, attr::parameter));
  });
}

static void markFrozen(func::FuncOp step, BlockArgument parameter) {
  step.setArgAttr(parameter.getArgNumber(), attr::frozen,
                  UnitAttr::get(step.getContext()));
}

static bool isFrozen(func::FuncOp step, BlockArgument parameter) {
  return bool(step.getArgAttr(parameter.getArgNumber(), attr::frozen));
}

//===----------------------------------------------------------------------===//
// Freezing
//===----------------------------------------------------------------------===//

LogicalResult DifferentiatePass::freezeParameters(func::FuncOp step) {
  SmallVector<BlockArgument> parameters = getParameters(step);
  for (BlockArgument parameter : parameters)
    if (!isFloatTensor(parameter.getType()))
      markFrozen(step, parameter);

  bool isValid = true;
  for (const std::string &text : freeze) {
    llvm::Expected<llvm::GlobPattern> glob = llvm::GlobPattern::create(text);
    if (!glob) {
      step.emitError("cannot freeze '")
          << text << "': " << llvm::toString(glob.takeError());
      isValid = false;
      continue;
    }
    bool matches = false;
    SmallVector<StringRef> names;
    for (BlockArgument parameter : parameters) {
      names.push_back(getTensorName(parameter));
      if (!glob->match(names.back()))
        continue;
      matches = true;
      markFrozen(step, parameter);
    }
    if (!matches) {
      step.emitError("no parameter matches '")
          << text << "' to freeze; the closest names are "
          << listCloseNames(text, names);
      isValid = false;
    }
  }
  return success(isValid);
}

//===----------------------------------------------------------------------===//
// Paths
//===----------------------------------------------------------------------===//

Paths::Paths(func::FuncOp step, Value loss, ArrayRef<BlockArgument> trainable) {
  for (BlockArgument parameter : trainable)
    sources[parameter] = parameter;
  for (Operation &op : step.front().without_terminator()) {
    auto operand = llvm::find_if(
        op.getOperands(), [&](Value value) { return sources.contains(value); });
    if (operand == op.getOperands().end() || isa<StopGradientOp>(op))
      continue;
    BlockArgument source = sources.lookup(*operand);
    for (Value result : op.getResults())
      if (isFloatTensor(result.getType()))
        sources[result] = source;
  }

  DenseSet<Value> needed = {loss};
  for (Operation &op : llvm::reverse(step.front().without_terminator())) {
    bool isNeeded = llvm::any_of(op.getResults(), [&](Value result) {
      return needed.contains(result) && sources.contains(result);
    });
    if (!isNeeded)
      continue;
    ops.push_back(&op);
    needed.insert(op.operand_begin(), op.operand_end());
  }
  std::reverse(ops.begin(), ops.end());
}

//===----------------------------------------------------------------------===//
// Backward pass
//===----------------------------------------------------------------------===//

/// Converts a gradient, which may be null, to a type of its shape.
Value Backward::convert(Value gradient, Type type) {
  if (!gradient || gradient.getType() == type)
    return gradient;
  // Converts before the broadcast, so that the result stays a broadcast.
  if (auto repeat = gradient.getDefiningOp<BroadcastOp>()) {
    auto from = cast<RankedTensorType>(repeat.getX().getType());
    Value x =
        CastOp::create(builder, gradient.getLoc(),
                       from.clone(getElementTypeOrSelf(type)), repeat.getX());
    return BroadcastOp::create(builder, gradient.getLoc(), type, x);
  }
  return CastOp::create(builder, gradient.getLoc(), type, gradient);
}

void Backward::accumulate(Value value, Value gradient, Location loc) {
  Value &sum = gradients[value];
  sum = sum ? Value(AddOp::create(builder, loc, sum, gradient)) : gradient;
}

LogicalResult Backward::visit(Operation *op) {
  // A gradient that is wider than its value keeps its type until it reaches a
  // weight.
  bool keepsWide =
      isa<BroadcastOp, CastOp, ReshapeOp, TransposeOp, BoundaryOp>(op);
  SmallVector<Value> resultGrads =
      llvm::map_to_vector(op->getResults(), [&](Value result) {
        Value gradient = getGradient(result);
        return keepsWide ? gradient : convert(gradient, result.getType());
      });
  if (llvm::none_of(resultGrads, [](Value grad) { return bool(grad); }))
    return success();
  SmallVector<Value> operandGrads(op->getNumOperands());
  if (failed(cast<DifferentiableInterface>(op).vjp(builder, resultGrads,
                                                   operandGrads)))
    return failure();
  for (auto [operand, grad] :
       llvm::zip_equal(op->getOperands(), operandGrads)) {
    if (!grad || !paths.sources.contains(operand))
      continue;
    if (cast<ShapedType>(grad.getType()).getShape() !=
            cast<ShapedType>(operand.getType()).getShape() ||
        !haveSameComputeType({grad.getType(), operand.getType()}))
      return op->emitOpError("has a gradient of type ")
             << grad.getType() << " for an operand of type "
             << operand.getType();
    accumulate(operand, convert(grad, getGradientType(operand)), op->getLoc());
  }
  return success();
}

LogicalResult Backward::run(Value loss, Value scale) {
  bool isComplete = true;
  for (Operation *op : paths.ops) {
    if (isa<DifferentiableInterface>(op))
      continue;
    isComplete = false;
    StringRef parameter;
    for (Value operand : op->getOperands())
      if (BlockArgument source = paths.sources.lookup(operand);
          source && parameter.empty())
        parameter = getParameterName(source);
    op->emitOpError("has no gradient, and lies between parameter '")
        << parameter << "' and the loss; freeze the parameters before it";
  }
  if (!isComplete)
    return failure();

  auto type = cast<RankedTensorType>(loss.getType());
  gradients[loss] = scale
                        ? scale
                        : ConstantOp::create(builder, loss.getLoc(), type,
                                             DenseElementsAttr::get(type, 1.0));
  for (Operation *op : llvm::reverse(paths.ops))
    if (failed(visit(op)))
      return failure();
  return success();
}

/// A gradient of a linear loss may depend on no parameter. Every stage can
/// compute it, so it needs no boundary.
static void bypassNeedlessBoundaries(func::FuncOp step) {
  DenseSet<Value> staged;
  for (BlockArgument parameter : getParameters(step))
    staged.insert(parameter);
  for (Operation &op : step.front().without_terminator()) {
    bool isStaged = llvm::any_of(op.getOperands(), [&](Value operand) {
      return staged.contains(operand);
    });
    if (isStaged && !isa<SumOverStagesOp>(op))
      staged.insert(op.result_begin(), op.result_end());
    if (auto boundary = dyn_cast<BoundaryOp>(op); boundary && !isStaged)
      boundary.getY().replaceAllUsesWith(boundary.getX());
  }
}

static FailureOr<Value> findLoss(func::FuncOp step) {
  if (std::optional<unsigned> i = findResult(step, attr::output, "loss"))
    if (Value loss = getReturn(step).getOperand(*i);
        isFloatTensor(loss.getType()))
      return loss;
  return step.emitError("no result with dtc.output = \"loss\" to "
                        "differentiate");
}

/// Reports why there is nothing to train, and the option that changes that.
static void reportNothingToTrain(func::FuncOp step, bool hasTrainable) {
  size_t count = getParameters(step).size();
  InFlightDiagnostic error = step.emitError("there is nothing to train: ");
  if (count == 0)
    error << "the loss is of no parameter; if some of the model's inputs are "
             "parameters, name them with --parameter GLOB";
  else if (!hasTrainable)
    error << "all " << count
          << " parameters are frozen; name fewer of them with --freeze GLOB";
  else
    error << "the loss depends on no trainable parameter; take it of another "
             "output with --loss-of NAME, freeze fewer parameters with "
             "--freeze GLOB, or name inputs that are parameters with "
             "--parameter GLOB";
}

void DifferentiatePass::runOnOperation() {
  FailureOr<func::FuncOp> step = findFunction(getOperation(), stepName);
  if (failed(step) || failed(freezeParameters(*step)))
    return signalPassFailure();
  FailureOr<Value> loss = findLoss(*step);
  if (failed(loss))
    return signalPassFailure();

  SmallVector<BlockArgument> trainable = llvm::filter_to_vector(
      getParameters(*step),
      [&](BlockArgument parameter) { return !isFrozen(*step, parameter); });
  Paths paths(*step, *loss, trainable);
  if (!paths.sources.contains(*loss)) {
    reportNothingToTrain(*step, !trainable.empty());
    return signalPassFailure();
  }
  Operation *lastForward = getReturn(*step)->getPrevNode();
  Backward backward(*step, paths);
  if (failed(backward.run(*loss, findScalarInput(*step, lossScaleKind))))
    return signalPassFailure();

  Results results;
  results.keep(*step, attr::output);
  results.keep(*step, attr::parameter); // running statistics
  for (BlockArgument parameter : trainable) {
    if (Value gradient = backward.getGradient(parameter)) {
      results.add(gradient, attr::gradient, getParameterName(parameter));
      continue;
    }
    emitWarning(parameter.getLoc(), "parameter '")
        << getParameterName(parameter)
        << "' does not influence the loss: it is not trained";
    markFrozen(*step, parameter);
  }
  results.assignTo(*step);
  bypassNeedlessBoundaries(*step);
  eraseDeadOps(*step, lastForward->getNextNode());
  getOperation().walk([](StopGradientOp op) {
    op.replaceAllUsesWith(op.getX());
    op.erase();
  });
}
