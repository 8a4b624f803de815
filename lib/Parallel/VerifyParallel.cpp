//===- VerifyParallel.cpp - invariant of the parallel phase ---------------===//
//
// Every op verifies its own layouts; this pass checks properties that span
// several ops.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/Dialect.h"
#include "dtc/Dialect/FindFunction.h"
#include "dtc/Parallel/Verify.h"

using namespace mlir;
using namespace dtc;

static bool isPartOfSum(Value value) {
  LayoutAttr layout = getLayout(value.getType());
  return layout && layout.isPartial(MeshAttr::timeAxis);
}

/// The origin of a sum over micro-batches: the op whose results are terms of
/// the sum while none of its operands is. Many ops may lie between it and the
/// sum.
static Operation *findSource(SumMicrobatchesOp sum) {
  Operation *source = sum;
  while (true) {
    auto operands = llvm::make_filter_range(source->getOperands(), isPartOfSum);
    Operation *producer =
        operands.empty() ? nullptr : (*operands.begin()).getDefiningOp();
    if (!producer)
      return source;
    source = producer;
  }
}

static LogicalResult verify(func::FuncOp step) {
  for (BlockArgument argument : step.getArguments())
    if (!getLayout(argument.getType()))
      return step.emitError("argument ")
             << argument.getArgNumber() << " has no layout";

  // The sum over micro-batches that a value depends on, if the summed value
  // depends on a parameter or on optimizer state. It is known only at the end
  // of the step.
  DenseMap<Value, SumMicrobatchesOp> late;
  DenseSet<Value> trained;
  for (BlockArgument argument : step.getArguments())
    if (!step.getArgAttr(argument.getArgNumber(), attr::input))
      trained.insert(argument);
  for (Operation &op : step.getBody().front().without_terminator()) {
    if (isa<ReshardOp>(op))
      return op.emitOpError("is left after InsertCollectives");
    for (Type type : op.getResultTypes())
      if (!getLayout(type))
        return op.emitOpError("has a result without a layout");
    bool isTrained = llvm::any_of(op.getOperands(),
                                  [&](Value v) { return trained.contains(v); });
    SumMicrobatchesOp sum;
    for (Value operand : op.getOperands())
      if (SumMicrobatchesOp found = late.lookup(operand))
        sum = found;
    if (auto self = dyn_cast<SumMicrobatchesOp>(op); self && isTrained)
      sum = self;
    for (Value result : op.getResults()) {
      if (isTrained)
        trained.insert(result);
      if (!sum)
        continue;
      if (getLayout(result.getType()).isSplit(MeshAttr::timeAxis)) {
        InFlightDiagnostic diag =
            emitError(findSource(sum)->getLoc())
            << "takes a sum or a mean over the whole batch, which each "
               "micro-batch needs; use 1 micro-batch";
        diag.attachNote(op.getLoc()) << "it is needed here";
        return diag;
      }
      late[result] = sum;
    }
  }
  return success();
}

LogicalResult dtc::verifyParallel(ModuleOp module) {
  FailureOr<func::FuncOp> step = findFunction(module, stepName);
  return failed(step) ? failure() : verify(*step);
}
