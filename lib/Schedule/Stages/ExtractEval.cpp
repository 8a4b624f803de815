//===- ExtractEval.cpp - extract the evaluation ---------------------------===//
//
// After this step, training and evaluation are separate functions: their
// layouts are the same, but their plans differ.
//
//===----------------------------------------------------------------------===//

#include "ExtractEval.h"
#include "dtc/Dialect/StepFunction.h"

using namespace mlir;
using namespace dtc;

static bool isEval(func::FuncOp function, unsigned result) {
  StringAttr name = getResultString(function, result, attr::output);
  return name && (name == evalName || isRecorded(function, result));
}

/// The axes of more than one rank or micro-batch that split dimension 0.
static SmallVector<StringAttr> getBatchAxes(LayoutAttr layout) {
  SmallVector<StringAttr> axes = layout.getAxesOfDim(0);
  llvm::erase_if(axes, [&](StringAttr axis) {
    return layout.getMesh().getSize(axis.getValue()) == 1;
  });
  return axes;
}

/// Whether each rank has the rows of a value that belong to its labels. Other
/// values cannot be recorded.
static bool isSplitAsLabels(func::FuncOp function, Value value) {
  LayoutAttr layout = getLayout(value.getType());
  if (!value.getDefiningOp() || !layout || !layout.isSplit(MeshAttr::timeAxis))
    return false;
  auto isWhole = [](const AxisLayout &entry) {
    return entry.isSplit() && entry.pieces == 1;
  };
  for (BlockArgument argument : function.getArguments())
    if (StringAttr kind = getArgString(argument, attr::kind);
        kind && kind == "label")
      return llvm::all_of(layout.getEntries(), isWhole) &&
             getBatchAxes(layout) ==
                 getBatchAxes(getLayout(argument.getType()));
  return false;
}

/// Keeps the results of an evaluation, or all others, and the ops that they
/// need. All ops are free of side effects here, communication included, so ops
/// without users can go.
static void keepResults(func::FuncOp function, bool ofEval) {
  llvm::BitVector others(function.getNumResults());
  for (OpOperand &returned : getReturn(function)->getOpOperands()) {
    unsigned i = returned.getOperandNumber();
    others[i] =
        isEval(function, i) != ofEval ||
        (isRecorded(function, i) && !isSplitAsLabels(function, returned.get()));
  }
  getReturn(function)->eraseOperands(others);
  (void)function.eraseResults(others);
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(function.front())))
    if (op.use_empty() && !isa<func::ReturnOp>(op))
      op.erase();
}

func::FuncOp dtc::extractEval(func::FuncOp step) {
  if (llvm::none_of(llvm::seq(step.getNumResults()),
                    [&](unsigned i) { return isEval(step, i); }))
    return {};
  func::FuncOp eval = step.clone();
  eval.setName(evalName);
  step->getBlock()->getOperations().insertAfter(step->getIterator(), eval);
  keepResults(step, /*ofEval=*/false);
  keepResults(eval, /*ofEval=*/true);
  llvm::BitVector unused(eval.getNumArguments());
  for (BlockArgument argument : eval.getArguments())
    unused[argument.getArgNumber()] = argument.use_empty();
  (void)eval.eraseArguments(unused);
  return eval;
}
