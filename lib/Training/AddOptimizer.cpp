//===- AddOptimizer.cpp - append the gradient norm and the updates --------===//
//
// Optimizer state becomes arguments and results, like parameters.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/StageAnalysis.h"
#include "dtc/Dialect/StepFunction.h"
#include "dtc/Support/Axes.h"
#include "dtc/Training/Optimizers.h"
#include "dtc/Training/Passes.h"
#include <cmath>
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
  /// The tensor of the model that the parameter is, or is a part of.
  StringRef tensor;
  DictionaryAttr attributes; ///< of the argument
  BlockArgument value;
  Value gradient;
  SmallVector<Value> state;

  /// The members of a flat parameter; null for other parameters.
  Attribute getMembers() const { return attributes.get(attr::members); }
  double getLrScale() const {
    auto scale = attributes.getAs<FloatAttr>(attr::lrScale);
    return scale ? scale.getValueAsDouble() : 1;
  }
  bool decays() const { return !attributes.contains(attr::noDecay); }
};

struct AddOptimizerPass : dtc::impl::AddOptimizerBase<AddOptimizerPass> {
  using AddOptimizerBase::AddOptimizerBase;
  void runOnOperation() override;

private:
  LogicalResult readOptions(func::FuncOp step);
  /// The gradient that updates use: scaled to the norm limit, if there is one.
  Value createClipped(OpBuilder &builder, Value gradient, Value norm,
                      Value lossScale);
  /// The settings of a parameter's update.
  OptimizerSettings getSettings(const TrainedParameter &parameter) const;

  const Optimizer *definition = nullptr;
  OptimizerSettings settingValues;
};

} // namespace

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

LogicalResult AddOptimizerPass::readOptions(func::FuncOp step) {
  llvm::Expected<const Optimizer *> found = findOptimizer(optimizer);
  if (!found)
    return step.emitError(llvm::toString(found.takeError()));
  definition = *found;
  OptimizerSettings given;
  for (StringRef setting : settings) {
    auto [name, text] = setting.split('=');
    if (text.getAsDouble(given[name.str()]))
      return step.emitError("setting of the optimizer is '")
             << setting << "', expected NAME=NUMBER";
  }
  llvm::Expected<OptimizerSettings> complete =
      completeSettings(*definition, given);
  if (!complete)
    return step.emitError(llvm::toString(complete.takeError()));
  settingValues = *complete;
  double norm = clipNorm;
  if (!std::isfinite(norm) || norm < 0)
    return step.emitError("norm to clip to is ")
           << norm << ", expected a number above 0, or 0 for none";
  double decay = ema;
  if (!(decay >= 0 && decay < 1))
    return step.emitError("decay of the moving average is ")
           << decay << ", expected a number above 0 and below 1, or 0 for none";
  return success();
}

OptimizerSettings
AddOptimizerPass::getSettings(const TrainedParameter &parameter) const {
  OptimizerSettings settings = settingValues;
  if (!parameter.decays())
    settings["weight_decay"] = 0;
  return settings;
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
        parameters.push_back({name.getValue(),
                              getTensorName(argument),
                              step.getArgAttrDict(argument.getArgNumber()),
                              argument,
                              gradient,
                              {}});
  return parameters;
}

/// Adds the state of each parameter after the parameter.
static LogicalResult addState(func::FuncOp step,
                              MutableArrayRef<TrainedParameter> parameters,
                              ArrayRef<StringRef> names) {
  Builder builder(step.getContext());
  SmallVector<unsigned> positions; // before what is there now
  SmallVector<Type> types;
  SmallVector<DictionaryAttr> attributes;
  SmallVector<Location> locations;
  for (const TrainedParameter &parameter : parameters)
    for (StringRef name : names) {
      positions.push_back(parameter.value.getArgNumber() + 1);
      types.push_back(parameter.value.getType());
      NamedAttrList list;
      list.set(attr::state, builder.getStringAttr(parameter.name + "." + name));
      if (Attribute members = parameter.getMembers())
        list.set(attr::members, members);
      attributes.push_back(list.getDictionary(step.getContext()));
      locations.push_back(parameter.value.getLoc());
    }
  if (failed(step.insertArguments(positions, types, attributes, locations)))
    return failure();
  for (TrainedParameter &parameter : parameters)
    for (unsigned i = 1; i <= names.size(); ++i)
      parameter.state.push_back(
          step.getArgument(parameter.value.getArgNumber() + i));
  return success();
}

//===----------------------------------------------------------------------===//
// Norm and updates
//===----------------------------------------------------------------------===//

/// The norm of the global gradient. Squares are summed on each stage first, so
/// that stages communicate one scalar.
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

Value AddOptimizerPass::createClipped(OpBuilder &builder, Value gradient,
                                      Value norm, Value lossScale) {
  if (clipNorm == 0 && !lossScale)
    return gradient;
  double limit = clipNorm == 0 ? HUGE_VAL : double(clipNorm);
  return ClipByNormOp::create(builder, gradient.getLoc(), gradient.getType(),
                              gradient, norm, lossScale, llvm::APFloat(limit));
}

/// The learning rate of a group: one value for all parameters with the scale,
/// since updates can share a bucket only if they read the same value.
static Value getRate(OpBuilder &builder, Value lr, double scale,
                     std::map<double, Value> &rates) {
  Value &rate = rates[scale];
  if (!rate) {
    auto type = cast<RankedTensorType>(lr.getType());
    Value factor = ConstantOp::create(builder, lr.getLoc(), type,
                                      DenseElementsAttr::get(type, scale));
    rate = MulOp::create(builder, lr.getLoc(), lr, factor);
  }
  return rate;
}

void AddOptimizerPass::runOnOperation() {
  FailureOr<func::FuncOp> found = findFunction(getOperation(), stepName);
  if (failed(found) || failed(readOptions(*found)))
    return signalPassFailure();
  func::FuncOp step = *found;
  SmallVector<TrainedParameter> parameters = getTrainedParameters(step);
  if (parameters.empty()) {
    step.emitError("there is nothing to train: no gradient by a parameter "
                   "reaches the loss, as through rounding and comparisons; "
                   "take it of another output with --loss-of NAME");
    return signalPassFailure();
  }
  if (!definition->isElementwise)
    for (const TrainedParameter &parameter : parameters)
      if (parameter.getMembers()) {
        step.emitError("optimizer ")
            << definition->name
            << " takes the norm of each parameter, which --zero lays in one "
               "tensor with others; use --zero 0 or another --optimizer";
        return signalPassFailure();
      }
  FailureOr<StageAnalysis> stages = StageAnalysis::compute(step);
  SmallVector<StringRef> stateNames = definition->getStateNames(settingValues);
  size_t numOptimizerStates = stateNames.size();
  if (ema != 0)
    stateNames.push_back(averageStateName);
  size_t numUpdated = stateNames.size();
  if (served)
    stateNames.push_back(pushedStateName);
  FailureOr<Value> lr = getScalarInput(step, "lr");
  Value lossScale = findScalarInput(step, lossScaleKind);
  bool skips = lossScale || skipNonFinite;
  if (skips) // running statistics
    step.walk([&](AverageOp op) {
      op->setAttr(attr::skipNan, UnitAttr::get(&getContext()));
    });
  // Skipped steps do not count, and a server has several updates in a step.
  FailureOr<Value> stepNumber =
      getScalarInput(step, skips || served ? StringRef(updatesKind) : "step");
  if (failed(stages) || failed(lr) || failed(stepNumber) ||
      failed(addState(step, parameters, stateNames)))
    return signalPassFailure();

  OpBuilder builder(getReturn(step));
  Results results;
  results.keep(step, attr::output);
  Value norm = createNorm(builder, step.getLoc(), parameters, *stages);
  if (lossScale)
    norm = DivOp::create(builder, step.getLoc(), norm, lossScale);
  results.add(norm, attr::output, "grad_norm");
  results.keep(step, attr::state); // of exchanged gradients
  if (skips)
    step.walk([&](KeepOp op) {
      if (op.getAlways())
        return;
      op->moveAfter(norm.getDefiningOp());
      op.getNormMutable().assign(norm);
    });
  // A NaN norm makes all gradients NaN, so updates are skipped as if they had
  // overflowed.
  if (skips && !lossScale) {
    auto type = cast<RankedTensorType>(norm.getType());
    lossScale = ConstantOp::create(builder, step.getLoc(), type,
                                   DenseElementsAttr::get(type, 1.0));
  }
  std::map<double, Value> rates = {{1.0, *lr}};
  for (ArrayRef<TrainedParameter> rest = parameters; !rest.empty();) {
    // Parts of one tensor are adjacent.
    auto parts = rest.take_while([&](const TrainedParameter &parameter) {
      return parameter.tensor == rest.front().tensor;
    });
    rest = rest.drop_front(parts.size());
    Value rate = getRate(builder, *lr, parts.front().getLrScale(), rates);
    SmallVector<ParameterUpdate> updates;
    for (const TrainedParameter &part : parts) {
      Value gradient = createClipped(builder, part.gradient, norm, lossScale);
      if (served) {
        Location loc = gradient.getLoc();
        Value state = part.state.back();
        Value kept = KeepOp::create(builder, loc, state.getType(), state,
                                    gradient, /*norm=*/Value(),
                                    /*always=*/true);
        results.add(kept, attr::state,
                    (part.name + "." + pushedStateName).str(),
                    part.getMembers());
        gradient =
            PushedOp::create(builder, loc, gradient.getType(), state, dataAxis);
      }
      updates.push_back({part.value, gradient, rate, *stepNumber,
                         ValueRange(part.state).take_front(numOptimizerStates),
                         part.decays()});
    }
    auto values =
        definition->createUpdates(builder, updates, getSettings(parts.front()));
    for (auto [part, updated] : llvm::zip_equal(parts, values)) {
      if (skips)
        for (Value value : updated)
          value.getDefiningOp()->setAttr(attr::skipNan, builder.getUnitAttr());
      if (ema != 0)
        updated.push_back(AverageOp::create(
            builder, part.value.getLoc(), part.value.getType(),
            part.state[numOptimizerStates], updated[0],
            llvm::APFloat(double(ema))));
      results.add(updated[0], attr::parameter, part.name, part.getMembers());
      for (auto [name, value] :
           llvm::zip_equal(ArrayRef(stateNames).take_front(numUpdated),
                           ArrayRef(updated).drop_front()))
        results.add(value, attr::state, (part.name + "." + name).str(),
                    part.getMembers());
    }
  }
  results.keep(step, attr::parameter); // running statistics
  for (const TrainedParameter &parameter : parameters)
    results.add(parameter.gradient, attr::gradient, parameter.name,
                parameter.getMembers());
  results.assignTo(step);
}
