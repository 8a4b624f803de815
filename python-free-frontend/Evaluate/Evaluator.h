//===- Evaluator.h - constant folding of ONNX operators ---------*- C++ -*-===//
//
// Computes nodes whose operands are all known. So the shape arithmetic of
// exporters never reaches the IR.
//
// In:  a node whose operands are all known.
// Out: the values of its results.
// May include Shapes/, File/ and Support/.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_EVALUATE_EVALUATOR_H
#define DTC_FRONTEND_EVALUATE_EVALUATOR_H

#include "Shapes/Call.h"

#include "llvm/ADT/StringMap.h"

namespace dtc::frontend {

using Values = llvm::SmallVector<HostTensor, 1>;
using EvaluateFn = llvm::Expected<Values> (*)(const Call &);

/// Computes nodes at import.
class Evaluator {
public:
  Evaluator();
  bool supports(llvm::StringRef op) const { return table.contains(op); }
  /// Whether the evaluator has the operator, and all operands that it needs are
  /// constant.
  bool canEvaluate(const Call &call) const;
  /// Computes the results of the node, one for each output. An error if the
  /// node is not valid.
  llvm::Expected<Values> evaluate(const Call &call) const;

private:
  llvm::StringMap<EvaluateFn> table;
};

/// Each file below adds the operators of its family.
using EvaluateTable = llvm::StringMap<EvaluateFn>;
void addElementwiseEvaluators(EvaluateTable &table);
void addShapeEvaluators(EvaluateTable &table);
void addIndexingEvaluators(EvaluateTable &table);
void addReductionEvaluators(EvaluateTable &table);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_EVALUATE_EVALUATOR_H
