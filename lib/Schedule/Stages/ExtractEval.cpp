//===- ExtractEval.cpp - a function of what an evaluation asks for --------===//
//
// The last moment at which training and evaluation are one function: their
// layouts are the same, their plans will differ.
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

/// Whether each rank has the rows of its samples of a value, as it has those of
/// the labels. Other values cannot be recorded.
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

/// Keeps the results of an evaluation, or all others, and what they need.
/// Everything is a value here, communication included: what has no users has no
/// effect.
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
