//===- Evaluator.cpp - constant folding of ONNX operators -----------------===//
//
// Collects the operators that can be computed at import.
//
//===----------------------------------------------------------------------===//

#include "Evaluate/Evaluator.h"

using namespace llvm;

namespace dtc::frontend {

Evaluator::Evaluator() {
  addElementwiseEvaluators(table);
  addShapeEvaluators(table);
  addIndexingEvaluators(table);
  addReductionEvaluators(table);
}

bool Evaluator::canEvaluate(const Call &call) const {
  StringRef op = call.node.op_type();
  ArrayRef<Operand> operands = call.operands;
  // These operators need only the types of their operands.
  if (op == "Shape" || op == "Size" || op == "EyeLike")
    operands = {};
  if (op == "CastLike")
    operands = operands.take_front();
  return supports(op) && all_of(operands, [](const Operand &operand) {
           return !operand.present || operand.constant;
         });
}

Expected<Values> Evaluator::evaluate(const Call &call) const {
  return table.lookup(call.node.op_type())(call);
}

} // namespace dtc::frontend
