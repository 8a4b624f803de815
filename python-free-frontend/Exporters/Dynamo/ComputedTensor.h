//===- ComputedTensor.h - a tensor that the exporter computed ---*- C++ -*-===//
//
// An initializer that is the result of calls whose operands all are known:
// which parameter it was computed from, and how.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_EXPORTERS_DYNAMO_COMPUTEDTENSOR_H
#define DTC_FRONTEND_EXPORTERS_DYNAMO_COMPUTEDTENSOR_H

#include "Exporters/Dynamo/Findings.h"
#include "Exporters/Dynamo/ParameterView.h"
#include "Exporters/Dynamo/RecordedProgram.h"
#include "Exporters/Dynamo/Term.h"

namespace dtc::frontend {

struct ComputedTensor {
  const onnx::TensorProto *stored = nullptr;
  /// The call that computed it.
  std::string call;
  /// Nodes and their operands.
  llvm::SmallVector<std::pair<int, int>> uses;
  TensorData data;

  /// Parameters that it may have been computed from, and the one of them that
  /// it was, if that is known.
  std::vector<const Origin *> candidates;
  const Origin *origin = nullptr;
  /// The elements of the parameter inside of it, and the functions that were
  /// computed of them, the first in front.
  std::optional<ParameterView> view;
  std::vector<Term> terms;

  /// The file has that parameter too.
  bool isPresent = false;
  /// The exporter says that elements were only moved. All of them are there,
  /// unless it is sliced.
  bool isRecorded = false, isSliced = false;
  /// The line of source names that parameter.
  bool isNamed = false;

  bool dependsOn(const Origin *parameter) const;
  /// Whether both were computed of the same elements.
  bool isAlike(const ComputedTensor &other) const;
  /// Takes these functions for what a parameter of the same shape was computed
  /// by, unless no numbers give its elements.
  void setTerms(std::vector<Term> functions);
  /// Forgets which parameter it was computed from.
  void forget();
};

/// Adds calls that may have had parameters as operands, which no evidence
/// shows, to the findings. Expects that operands have the names of parameters.
std::vector<ComputedTensor> explainComputed(const RecordedProgram &program,
                                            Findings &findings);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_EXPORTERS_DYNAMO_COMPUTEDTENSOR_H
