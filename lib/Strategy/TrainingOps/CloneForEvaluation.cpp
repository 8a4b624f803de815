//===- CloneForEvaluation.cpp - the forward pass of evaluations -----------===//
//
// The predictions of an evaluation differ from the first op that has another
// meaning there. From that op on, the forward pass is cloned.
//
//===----------------------------------------------------------------------===//

#include "ExpandTrainingOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace dtc;

void dtc::cloneForEvaluation(func::FuncOp step) {
  SmallVector<unsigned> numbers;
  for (StringRef name : {StringRef("predictions"), StringRef(recordedName)})
    if (std::optional<unsigned> number = findResult(step, attr::output, name))
      numbers.push_back(*number);
  if (numbers.empty())
    return;
  func::ReturnOp ret = getReturn(step);
  DenseSet<Value> differs;
  SmallVector<Operation *> ops;
  for (Operation &op : step.front().without_terminator())
    if (isa<EvaluationInterface>(op) ||
        llvm::any_of(op.getOperands(),
                     [&](Value value) { return differs.contains(value); })) {
      differs.insert(op.result_begin(), op.result_end());
      ops.push_back(&op);
    }
  OpBuilder builder(ret);
  IRMapping mapping;
  for (Operation *op : ops) {
    Operation *clone = builder.clone(*op, mapping);
    if (auto other = dyn_cast<EvaluationInterface>(clone)) {
      mapping.map(op->getResult(0), other.buildForEvaluation(builder));
      clone->erase();
    }
  }
  for (unsigned number : numbers)
    ret.setOperand(number, mapping.lookupOrDefault(ret.getOperand(number)));
  eraseDeadOps(step);
}
