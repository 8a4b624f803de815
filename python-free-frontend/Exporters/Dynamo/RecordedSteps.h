//===- RecordedSteps.h - what the exporter did to a parameter ---*- C++ -*-===//

#ifndef DTC_FRONTEND_EXPORTERS_DYNAMO_RECORDEDSTEPS_H
#define DTC_FRONTEND_EXPORTERS_DYNAMO_RECORDEDSTEPS_H

#include "Exporters/Dynamo/ParameterView.h"
#include "Exporters/Dynamo/Term.h"

#include "llvm/ADT/ArrayRef.h"

namespace dtc::frontend {

/// The calls that made a tensor of one parameter. The exporter records their
/// names, in no order:
///
///   'neg' of 'A_log', by 'exp'       neg(exp(A_log))
///   'unsqueeze_1' of 'A_log', by 'exp', 'neg', 'unsqueeze', 'val_7'
struct RecordedSteps {
  /// Functions of elements, the first in front; if `isOrdered` is false, in any
  /// order.
  std::vector<Term> functions;
  bool isOrdered = true;
  /// Dimensions of 1 that were inserted, less those that were removed.
  int inserted = 0;
  bool isSqueezed = false, isExpanded = false;
  /// A part of the parameter may have been taken, in its own order.
  bool isSliced = false;
};

/// The steps of `call` and the calls that it was computed by, but the name of
/// the parameter. Nothing if any of them does something else.
std::optional<RecordedSteps> readSteps(llvm::StringRef call,
                                       llvm::ArrayRef<llvm::StringRef> names);

/// Whether a step does more than to move elements or to scale them.
bool isArithmetic(llvm::StringRef step);

/// Undoes functions of elements in turn, the last first. Nothing if that gives
/// no numbers.
std::optional<std::string> undoAll(llvm::ArrayRef<Term> functions,
                                   const TensorData &data);

/// The parameter's elements, and the terms that compute a tensor of them again.
struct UndoneSteps {
  ParameterView parameter;
  std::vector<Term> terms;
  /// Whether the parameter can have no other shape.
  bool isSure = true;
};

/// Undoes the steps. Nothing if no order of the functions gives numbers, or
/// several do.
std::optional<UndoneSteps> undoSteps(const RecordedSteps &steps,
                                     const TensorData &data);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_EXPORTERS_DYNAMO_RECORDEDSTEPS_H
