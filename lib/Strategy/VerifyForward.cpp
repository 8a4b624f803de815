//===- VerifyForward.cpp - check a forward pass with its loss -------------===//
//
// Later phases rely on these properties; see docs/Architecture/Strategy.md.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/StageAnalysis.h"
#include "dtc/Dialect/StepFunction.h"
#include "dtc/Strategy/Verify.h"

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
  if (!findResult(*step, attr::output, "loss")) {
    isValid = false;
    step->emitError("no result with dtc.output = \"loss\"");
  }
  isValid &= succeeded(verifyStages(*step, numStages));
  return success(isValid);
}
