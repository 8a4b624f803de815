//===- AddOptimizer.cpp - append the gradient norm and the updates --------===//
//
// Optimizer state becomes arguments and results, as parameters are.
//
//===----------------------------------------------------------------------===//

#include "StepFunction.h"
#include "dtc/Training/Passes.h"
#include "dtc/Training/StageAnalysis.h"
#include <map>

namespace dtc {
#define GEN_PASS_DEF_ADDOPTIMIZER
#include "dtc/Training/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

namespace {

struct TrainedParameter {
  StringRef name;
  BlockArgument value;
  Value gradient;
  SmallVector<Value, 2> state;
};

struct AddOptimizerPass : dtc::impl::AddOptimizerBase<AddOptimizerPass> {
  using AddOptimizerBase::AddOptimizerBase;
  void runOnOperation() override;

private:
  LogicalResult verifyOptions(func::FuncOp step);
  /// The optimizer's state of each parameter, by PyTorch's names.
  SmallVector<StringRef> getStateNames();
  ValueRange createUpdate(OpBuilder &builder, const TrainedParameter &parameter,
                          Value lr, Value stepNumber);
};

} // namespace

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

LogicalResult AddOptimizerPass::verifyOptions(func::FuncOp step) {
  std::string name = optimizer;
  if (!llvm::is_contained({"sgd", "adam", "adamw"}, name))
    return step.emitError("unknown optimizer '")
           << name << "', expected sgd, adam or adamw";
  bool isSgd = name == "sgd";
  double m = momentum, b1 = beta1, b2 = beta2, eps = epsilon;
  if (!isSgd && (m != 0 || nesterov))
    return step.emitError("momentum and nesterov belong to sgd, the optimizer "
                          "is ")
           << name;
  if (m < 0 || m >= 1)
    return step.emitError("momentum is ")
           << m << ", expected 0 <= momentum < 1";
  if (nesterov && m == 0)
    return step.emitError("nesterov needs a momentum above 0");
  if (b1 < 0 || b1 >= 1 || b2 < 0 || b2 >= 1)
    return step.emitError("betas are ")
           << b1 << " and " << b2 << ", expected 0 <= beta < 1";
  if (eps < 0)
    return step.emitError("epsilon is ") << eps << ", expected 0 or more";
  return success();
}

SmallVector<StringRef> AddOptimizerPass::getStateNames() {
  if (optimizer != "sgd")
    return {"exp_avg", "exp_avg_sq"};
  if (momentum != 0)
    return {"momentum_buffer"};
  return {};
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

/// The parameters that have gradients, in the order of the arguments.
static SmallVector<TrainedParameter> getTrainedParameters(func::FuncOp step) {
  llvm::StringMap<Value> gradients;
  for (auto [i, value] : llvm::enumerate(getReturn(step).getOperands()))
    if (StringAttr name = getResultString(step, i, attr::gradient))
      gradients[name.getValue()] = value;
  SmallVector<TrainedParameter> parameters;
  for (BlockArgument argument : step.getArguments())
    if (StringAttr name = getArgString(argument, attr::parameter))
      if (Value gradient = gradients.lookup(name.getValue()))
        parameters.push_back({name.getValue(), argument, gradient, {}});
  return parameters;
}

/// Adds lr and step after the last input.
static LogicalResult addSchedule(func::FuncOp step, Value &lr, Value &number) {
  Builder builder(step.getContext());
  unsigned position = 0;
  for (BlockArgument argument : step.getArguments())
    if (getArgString(argument, attr::input))
      position = argument.getArgNumber() + 1;
  auto type = RankedTensorType::get({}, builder.getF64Type());
  constexpr StringLiteral names[] = {"lr", "step"};
  for (auto [i, name] : llvm::enumerate(names)) {
    StringAttr string = builder.getStringAttr(name);
    auto attributes =
        builder.getDictionaryAttr({builder.getNamedAttr(attr::input, string),
                                   builder.getNamedAttr(attr::kind, string)});
    if (failed(
            step.insertArgument(position + i, type, attributes, step.getLoc())))
      return failure();
  }
  lr = step.getArgument(position);
  number = step.getArgument(position + 1);
  return success();
}

/// Adds the state of each parameter after it.
static LogicalResult addState(func::FuncOp step,
                              MutableArrayRef<TrainedParameter> parameters,
                              ArrayRef<StringRef> names) {
  Builder builder(step.getContext());
  for (TrainedParameter &parameter : parameters)
    for (auto [i, name] : llvm::enumerate(names)) {
      unsigned position = parameter.value.getArgNumber() + 1 + i;
      auto attributes = builder.getDictionaryAttr(builder.getNamedAttr(
          attr::state, builder.getStringAttr(parameter.name + "." + name)));
      if (failed(step.insertArgument(position, parameter.value.getType(),
                                     attributes, parameter.value.getLoc())))
        return failure();
      parameter.state.push_back(step.getArgument(position));
    }
  return success();
}

//===----------------------------------------------------------------------===//
// Norm and updates
//===----------------------------------------------------------------------===//

/// The norm of all gradients together. Squares add up on each stage first, so
/// that one scalar for each stage is communicated.
static Value createNorm(OpBuilder &builder, Location loc,
                        ArrayRef<TrainedParameter> parameters,
                        const StageAnalysis &stages) {
  auto scalar = RankedTensorType::get({}, builder.getF64Type());
  std::map<int64_t, Value> sums;
  for (const TrainedParameter &parameter : parameters) {
    Value squares = SumSquaresOp::create(builder, parameter.gradient.getLoc(),
                                         scalar, parameter.gradient);
    Value &sum = sums[*stages.getStage(parameter.value)];
    sum = sum ? Value(AddOp::create(builder, loc, sum, squares)) : squares;
  }
  SmallVector<Value> parts;
  for (auto &[stage, sum] : sums)
    parts.push_back(sum);
  Value total = SumOverStagesOp::create(builder, loc, scalar, parts);
  return SqrtOp::create(builder, loc, total);
}

ValueRange AddOptimizerPass::createUpdate(OpBuilder &builder,
                                          const TrainedParameter &parameter,
                                          Value lr, Value stepNumber) {
  bool isDecoupled = optimizer == "adamw";
  double decay = weightDecay;
  if (decay < 0)
    decay = isDecoupled ? 0.01 : 0;
  Location loc = parameter.value.getLoc();
  Type type = parameter.value.getType();
  SmallVector<Type> stateTypes(parameter.state.size(), type);
  auto number = [](double value) { return llvm::APFloat(value); };
  if (optimizer == "sgd")
    return SgdOp::create(builder, loc, type, stateTypes, parameter.value,
                         parameter.gradient, lr, parameter.state,
                         number(momentum), nesterov, number(decay))
        ->getResults();
  return AdamOp::create(builder, loc, type, stateTypes, parameter.value,
                        parameter.gradient, lr, stepNumber, parameter.state,
                        number(beta1), number(beta2), number(epsilon),
                        number(decay), isDecoupled)
      ->getResults();
}

void AddOptimizerPass::runOnOperation() {
  FailureOr<func::FuncOp> found = findFunction(getOperation(), stepName);
  if (failed(found) || failed(verifyOptions(*found)))
    return signalPassFailure();
  func::FuncOp step = *found;
  SmallVector<TrainedParameter> parameters = getTrainedParameters(step);
  if (parameters.empty()) {
    step.emitError("no result is the gradient of a parameter; differentiate "
                   "first");
    return signalPassFailure();
  }
  FailureOr<StageAnalysis> stages = StageAnalysis::compute(step);
  SmallVector<StringRef> stateNames = getStateNames();
  Value lr, stepNumber;
  if (failed(stages) || failed(addSchedule(step, lr, stepNumber)) ||
      failed(addState(step, parameters, stateNames)))
    return signalPassFailure();

  OpBuilder builder(getReturn(step));
  Results results;
  for (auto [i, value] : llvm::enumerate(getReturn(step).getOperands()))
    if (StringAttr name = getResultString(step, i, attr::output))
      results.add(value, attr::output, name);
  results.add(createNorm(builder, step.getLoc(), parameters, *stages),
              attr::output, "grad_norm");
  for (const TrainedParameter &parameter : parameters) {
    ValueRange updated = createUpdate(builder, parameter, lr, stepNumber);
    results.add(updated[0], attr::parameter, parameter.name);
    for (auto [name, value] : llvm::zip_equal(stateNames, updated.drop_front()))
      results.add(value, attr::state, (parameter.name + "." + name).str());
  }
  for (const TrainedParameter &parameter : parameters)
    results.add(parameter.gradient, attr::gradient, parameter.name);
  results.assignTo(step);
}
