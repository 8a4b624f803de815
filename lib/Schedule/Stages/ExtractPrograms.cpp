//===- ExtractPrograms.cpp - extract the evaluation and other programs ----===//
//
// After this step, the training step, the evaluation and each program between
// steps are separate functions: their layouts are the same, but their plans
// differ.
//
//===----------------------------------------------------------------------===//

#include "ExtractPrograms.h"
#include "dtc/Dialect/StageAnalysis.h"
#include "dtc/Dialect/StepFunction.h"

using namespace mlir;
using namespace dtc;

/// The program that a result belongs to; empty for the step.
static StringRef getProgramOfResult(func::FuncOp function, unsigned result) {
  if (StringAttr program = getResultString(function, result, attr::program))
    return program;
  StringAttr name = getResultString(function, result, attr::output);
  bool isEval = name && (name == evalName || isRecorded(function, result));
  return isEval ? StringRef(evalName) : StringRef();
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

/// Keeps the results of a program and the ops that they need. All ops are free
/// of side effects here, communication included, so ops without users can go.
static void keepResults(func::FuncOp function, StringRef program) {
  llvm::BitVector others(function.getNumResults());
  for (OpOperand &returned : getReturn(function)->getOpOperands()) {
    unsigned i = returned.getOperandNumber();
    others[i] =
        getProgramOfResult(function, i) != program ||
        (isRecorded(function, i) && !isSplitAsLabels(function, returned.get()));
  }
  getReturn(function)->eraseOperands(others);
  (void)function.eraseResults(others);
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(function.front())))
    if (op.use_empty() && !isa<func::ReturnOp>(op))
      op.erase();
}

/// Makes a function of the program, with the arguments that it uses.
static func::FuncOp extract(func::FuncOp step, StringRef program,
                            const StageAnalysis &stages) {
  func::FuncOp function = step.clone();
  function.setName(program);
  keepResults(function, program);
  for (unsigned i : llvm::seq(function.getNumResults())) {
    if (Attribute turn = function.getResultAttr(i, attr::turn))
      function->setAttr(attr::turn, turn);
    for (StringRef name : {attr::turn, attr::program})
      function.removeResultAttr(i, StringAttr::get(step.getContext(), name));
  }
  Builder builder(step.getContext());
  llvm::BitVector unused(function.getNumArguments());
  for (BlockArgument argument : function.getArguments()) {
    unsigned number = argument.getArgNumber();
    unused[number] = argument.use_empty();
    // Without boundaries, the ops do not show the stages of arguments.
    std::optional<int64_t> stage = stages.getStage(step.getArgument(number));
    if (program != evalName && stage)
      function.setArgAttr(number, attr::stage,
                          builder.getI64IntegerAttr(*stage));
  }
  (void)function.eraseArguments(unused);
  return function;
}

FailureOr<SmallVector<func::FuncOp>> dtc::extractPrograms(func::FuncOp step) {
  llvm::SetVector<StringRef> names;
  for (unsigned i : llvm::seq(step.getNumResults()))
    if (StringRef name = getProgramOfResult(step, i); !name.empty())
      names.insert(name);
  SmallVector<func::FuncOp> programs;
  if (names.empty())
    return programs;
  FailureOr<StageAnalysis> stages = StageAnalysis::compute(step);
  if (failed(stages))
    return failure();
  Operation *last = step;
  for (StringRef name : names) {
    func::FuncOp program = extract(step, name, *stages);
    last->getBlock()->getOperations().insertAfter(last->getIterator(), program);
    last = program;
    programs.push_back(program);
  }
  keepResults(step, "");
  return programs;
}
