//===- TensorSources.h - what an exporter says that it computed -*- C++ -*-===//

#ifndef DTC_FRONTEND_EXPORTERS_DYNAMO_TENSORSOURCES_H
#define DTC_FRONTEND_EXPORTERS_DYNAMO_TENSORSOURCES_H

#include "Exporters/Dynamo/ComputedTensors.h"

namespace dtc::frontend {

/// Reads the exporter's records of what it computed of which tensors.
class TensorSources {
public:
  TensorSources(const FxGraph &graph, const PresentParameters &present)
      : graph(graph), present(present) {}

  /// Whether the exporter says that it computed a tensor of no parameters.
  bool isOfNumbers(llvm::StringRef tensor) const;
  /// Whether it says that there is a parameter among these.
  bool isOfParameters(llvm::StringRef tensor) const;
  /// Which parameters a tensor was computed of, and how, if the exporter says
  /// that.
  void read(Computed &computed) const;
  /// Of equal tensors the exporter keeps one, with its own sources: one that
  /// another call computed alike, of the only candidate.
  void readAlike(Computed &computed) const;

private:
  void readSteps(Computed &computed, llvm::StringRef tensor) const;
  std::optional<SourceTerm> findTermOf(const Computed &computed,
                                       const Origin &parameter) const;

  const FxGraph &graph;
  const PresentParameters &present;
};

} // namespace dtc::frontend

#endif // DTC_FRONTEND_EXPORTERS_DYNAMO_TENSORSOURCES_H
