//===- Evaluator.cpp - constant folding of ONNX operators -----------------===//
//
// The table of operators that can be computed at import.
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

bool Evaluator::needsOnlyTypes(StringRef op) {
  return op == "Shape" || op == "Size" || op == "EyeLike";
}

Expected<Values> Evaluator::evaluate(const Call &call) const {
  return table.lookup(call.node.op_type())(call);
}

} // namespace dtc::frontend
