//===- ComputedTensors.h - what an exporter computed ------------*- C++ -*-===//
//
// Initializers that are results of calls whose operands all are known: which
// parameter each was computed of, and how.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_EXPORTERS_DYNAMO_COMPUTEDTENSORS_H
#define DTC_FRONTEND_EXPORTERS_DYNAMO_COMPUTEDTENSORS_H

#include "Exporters/Dynamo/FoldedTensor.h"
#include "Exporters/Dynamo/FxGraph.h"
#include "Exporters/Dynamo/SourceTerm.h"
#include "Exporters/RestoredTensors.h"

#include "llvm/ADT/STLExtras.h"

#include <map>

namespace dtc::frontend {

/// A tensor that the exporter computed, perhaps of parameters.
struct Computed {
  const onnx::TensorProto *stored = nullptr;
  /// The call that computed it.
  std::string call;
  /// Several tensors could be that call's.
  bool isUnclear = false;
  /// Nodes and their operands.
  llvm::SmallVector<std::pair<int, int>> uses;
  TensorData data;
  std::optional<FoldedTensor> folded;
  /// Parameters that it may have been computed of.
  std::vector<const Origin *> candidates;
  /// The one of them that it was, if that is known, and the functions that it
  /// was computed by after its elements were moved.
  const Origin *origin = nullptr;
  std::vector<SourceTerm> terms;
  /// The file has that parameter too.
  bool isPresent = false;
  /// The exporter says that elements were only moved. All of them are there,
  /// unless it is sliced.
  bool isRecorded = false, isSliced = false;
  /// One of the terms adds a number that is not known.
  bool addsNumber = false;

  bool dependsOn(const Origin *parameter) const {
    return origin ? origin == parameter
                  : llvm::is_contained(candidates, parameter);
  }
  /// Takes these functions for what a parameter of the same shape was computed
  /// by, unless no numbers give its elements.
  void setTerms(std::vector<SourceTerm> functions);
  /// Whether both were computed of the same elements.
  bool isAlike(const Computed &other) const {
    if (!terms.empty() || !other.terms.empty())
      return !terms.empty() && !other.terms.empty() &&
             data.bytes == other.data.bytes;
    return folded && other.folded && folded->bytes == other.folded->bytes &&
           folded->isTransposed == other.folded->isTransposed;
  }
};

/// Parameters that the file has, by number of elements.
using PresentParameters =
    std::map<int64_t, std::vector<std::pair<const Origin *, TensorData>>>;

struct ComputedTensors {
  std::vector<Computed> list;
  /// Calls that may have had parameters as operands, which no evidence shows.
  std::vector<std::string> doubtful;
  /// Results of calls of which the file has only a parameter that is equal:
  /// "'rsub' of 'gate'".
  std::vector<std::string> equal;
};

/// Expects that the graph's operands have the names of parameters.
/// `transposed` has those that are stored so.
ComputedTensors findComputedTensors(const FxGraph &graph, TensorReader &reader,
                                    const llvm::StringSet<> &transposed);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_EXPORTERS_DYNAMO_COMPUTEDTENSORS_H
