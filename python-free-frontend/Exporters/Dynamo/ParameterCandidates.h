//===- ParameterCandidates.h - which parameter a tensor is of ---*- C++ -*-===//
//
// Of equal tensors the exporter keeps one, and says nothing of the others. The
// parameters that nothing uses of the modules around a tensor may be those that
// it was computed from, and the line of source that reads it may name one.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_EXPORTERS_DYNAMO_PARAMETERCANDIDATES_H
#define DTC_FRONTEND_EXPORTERS_DYNAMO_PARAMETERCANDIDATES_H

#include "Exporters/Dynamo/ComputedTensor.h"

#include <map>
#include <set>

namespace dtc::frontend {

class ParameterCandidates {
public:
  ParameterCandidates(const RecordedProgram &program, Findings &findings);

  /// Whether nothing uses a tensor of the state dict.
  bool isUnused(const Origin &origin) const {
    return !program.isUsed(origin.name) && !findings.isAlias(origin.name);
  }
  /// Whether a node of this module, or of one in it, reads a tensor.
  bool isUsedIn(const ComputedTensor &tensor, llvm::StringRef module) const;
  /// The tensors of the state dict that the source line of the reader names,
  /// and that no call of the line has as an argument: the exporter computed
  /// that call.
  std::vector<const Origin *> findLost(const ComputedTensor &tensor) const;
  /// Parameters that nothing uses: of the modules that use the tensor and those
  /// inside, else of those around.
  std::vector<const Origin *> find(const ComputedTensor &tensor) const;

  /// Chooses among the candidates of each tensor, and drops tensors without
  /// any. Those that may have had some are findings.
  void choose(std::vector<ComputedTensor> &list) const;

  /// Whether the file lacks parameters, or buffers.
  bool lacksParameters = false, lacksBuffers = false;

private:
  bool isDoubtful(const ComputedTensor &tensor) const;
  void findOthers(std::vector<ComputedTensor> &list) const;
  void chooseByLine(std::vector<ComputedTensor> &list) const;
  void dropUnclear(std::vector<ComputedTensor> &list) const;
  void chooseByElements(std::vector<ComputedTensor> &list) const;

  const RecordedProgram &program;
  Findings &findings;
  /// Parameters that are arguments of calls, by module and line of these.
  std::map<std::pair<llvm::StringRef, llvm::StringRef>,
           std::set<const Origin *>>
      arguments;
};

} // namespace dtc::frontend

#endif // DTC_FRONTEND_EXPORTERS_DYNAMO_PARAMETERCANDIDATES_H
