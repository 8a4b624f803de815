//===- VerifyTraining.cpp - check a step without layouts ------------------===//
//
// What the next phases rely on; see docs/Architecture/Training.md.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/StageAnalysis.h"
#include "dtc/Dialect/StepFunction.h"
#include "dtc/Training/Verify.h"

using namespace mlir;
using namespace dtc;

static LogicalResult verifyType(Operation *op, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (tensor && tensor.hasStaticShape() && !tensor.getEncoding())
    return success();
  return op->emitOpError("has a value of type ")
         << type << ", expected a tensor of static shape without layout";
}

static LogicalResult verifyTypes(func::FuncOp step) {
  bool isValid = true;
  for (Type type : step.getArgumentTypes())
    isValid &= succeeded(verifyType(step, type));
  for (Operation &op : step.front())
    for (Type type : op.getResultTypes())
      isValid &= succeeded(verifyType(&op, type));
  return success(isValid);
}

static LogicalResult verifyArgument(func::FuncOp step, unsigned number) {
  auto has = [&](StringRef name) {
    return bool(step.getArgAttrOfType<StringAttr>(number, name));
  };
  if (has(attr::input) + has(attr::parameter) + has(attr::state) != 1)
    return step.emitError("argument ")
           << number << " is not one of dtc.input, dtc.parameter, dtc.state";
  if (!has(attr::input))
    return success();
  auto kind = step.getArgAttrOfType<StringAttr>(number, attr::kind);
  if (kind && llvm::is_contained(
                  ArrayRef<StringRef>{"input", "label", "lr", "step", "seed",
                                      lossScaleKind, updatesKind, replicasKind},
                  kind.getValue()))
    return success();
  return step.emitError("input ")
         << step.getArgAttr(number, attr::input)
         << " has no dtc.kind, expected input, label, lr, step or seed";
}

static LogicalResult verifyResult(func::FuncOp step, unsigned number) {
  int64_t meanings = 0;
  for (StringRef name :
       {attr::output, attr::parameter, attr::state, attr::gradient})
    meanings += bool(getResultString(step, number, name));
  if (meanings == 1)
    return success();
  return step.emitError("result ")
         << number
         << " is not one of dtc.output, dtc.parameter, dtc.state, dtc.gradient";
}

/// The type of each result, by what it is: an attribute's name and string. Of
/// several that are the same, the first.
static llvm::StringMap<Type> getResultTypes(func::FuncOp step) {
  llvm::StringMap<Type> types;
  for (auto [i, type] : llvm::enumerate(step.getResultTypes()))
    for (NamedAttribute attribute : step.getResultAttrs(i))
      if (auto string = dyn_cast<StringAttr>(attribute.getValue()))
        types.try_emplace(
            (attribute.getName().getValue() + "=" + string.getValue()).str(),
            type);
  return types;
}

static LogicalResult verifyOutput(func::FuncOp step, StringRef name) {
  if (findResult(step, attr::output, name))
    return success();
  return step.emitError("no result with dtc.output = \"") << name << "\"";
}

/// Each trained parameter has its new value and its gradient, each state its
/// new value.
static LogicalResult verifyUpdates(func::FuncOp step) {
  bool isValid = true;
  llvm::StringMap<Type> types = getResultTypes(step);
  auto findResult = [&](StringRef name, StringRef string) {
    return types.lookup((name + "=" + string).str());
  };
  auto expect = [&](BlockArgument argument, StringRef argumentName,
                    StringRef resultName) {
    StringAttr string = getArgString(argument, argumentName);
    if (findResult(resultName, string) == argument.getType())
      return;
    isValid = false;
    step.emitError("no result with ")
        << resultName << " = " << string << " of type " << argument.getType();
  };
  for (BlockArgument argument : step.getArguments()) {
    if (getArgString(argument, attr::state))
      expect(argument, attr::state, attr::state);
    if (!getArgString(argument, attr::parameter) ||
        step.getArgAttr(argument.getArgNumber(), attr::frozen))
      continue;
    expect(argument, attr::parameter, attr::parameter);
    expect(argument, attr::parameter, attr::gradient);
  }
  isValid &= succeeded(verifyOutput(step, "grad_norm"));
  return success(isValid);
}

static LogicalResult verifyStages(func::FuncOp step, int64_t expected) {
  FailureOr<StageAnalysis> stages = StageAnalysis::compute(step);
  if (failed(stages))
    return failure();
  if (expected == 0 || stages->getNumStages() == expected)
    return success();
  return step.emitError("the loss depends on ")
         << stages->getNumStages() << " pipeline stages, expected " << expected
         << "; compile with fewer stages";
}

LogicalResult dtc::verifyForward(ModuleOp module, int64_t numStages) {
  FailureOr<func::FuncOp> step = findFunction(module, stepName);
  if (failed(step))
    return failure();
  bool isValid = succeeded(verifyTypes(*step));
  for (unsigned i = 0; i < step->getNumArguments(); ++i)
    isValid &= succeeded(verifyArgument(*step, i));
  for (unsigned i = 0; i < step->getNumResults(); ++i)
    isValid &= succeeded(verifyResult(*step, i));
  isValid &= succeeded(verifyOutput(*step, "loss"));
  isValid &= succeeded(verifyStages(*step, numStages));
  return success(isValid);
}

LogicalResult dtc::verifyTraining(ModuleOp module, int64_t numStages) {
  FailureOr<func::FuncOp> step = findFunction(module, stepName);
  if (failed(step))
    return failure();
  bool isValid = succeeded(verifyForward(module, numStages));
  isValid &= succeeded(verifyUpdates(*step));
  return success(isValid);
}
