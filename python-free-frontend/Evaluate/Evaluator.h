//===- Evaluator.h - constant folding of ONNX operators ---------*- C++ -*-===//
//
// Computes a node whose operands are all known, so that the shape arithmetic
// of exporters never reaches the IR.
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

class Evaluator {
public:
  Evaluator();
  bool supports(llvm::StringRef op) const { return table.contains(op); }
  /// Whether the operator can be computed, and all operands whose values it
  /// needs are constant.
  bool canEvaluate(const Call &call) const;
  /// One value per output.
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
