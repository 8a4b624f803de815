//===- VerifyTraining.cpp - check a step without layouts ------------------===//
//
// Checks the invariants that later phases rely on; see
// docs/Architecture/Training.md.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/StepFunction.h"
#include "dtc/Strategy/Verify.h"
#include "dtc/Training/Verify.h"

using namespace mlir;
using namespace dtc;

/// The type of each result, by its attribute's name and string. If several
/// results have the same, the type of the first.
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

/// Checks that each trained parameter has a new value and a gradient, which is
/// also there if it is pushed to a server, and each state a new value.
static LogicalResult verifyUpdates(func::FuncOp step) {
  bool isValid = true;
  llvm::StringMap<Type> types = getResultTypes(step);
  auto getResultType = [&](StringRef name, StringRef string) {
    return types.lookup((name + "=" + string).str());
  };
  auto expect = [&](BlockArgument argument, StringRef argumentName,
                    StringRef resultName) {
    StringAttr string = getArgString(argument, argumentName);
    if (getResultType(resultName, string) == argument.getType())
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
    StringAttr name = getArgString(argument, attr::parameter);
    if (!findResult(step, attr::state,
                    (name.getValue() + "." + pushedStateName).str()))
      expect(argument, attr::parameter, attr::gradient);
  }
  if (!findResult(step, attr::output, "grad_norm")) {
    isValid = false;
    step.emitError("no result with dtc.output = \"grad_norm\"");
  }
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
