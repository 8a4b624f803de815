//===- TieParameters.h - tensors that are one parameter ---------*- C++ -*-===//

#ifndef DTC_FRONTEND_PARAMETERS_TIEPARAMETERS_H
#define DTC_FRONTEND_PARAMETERS_TIEPARAMETERS_H

#include "Parameters/ParameterNames.h"
#include "Parameters/Parameters.h"
#include "Parameters/TensorRoles.h"
#include "Support/Fingerprint.h"

namespace dtc::frontend {

/// A tensor that is to be a parameter, before tying.
struct Candidate {
  std::string name;   ///< of the parameter
  std::string source; ///< of the initializer or graph input
  TensorData data;
  Fingerprint print;
  TensorRole role;
  /// The module that uses it, by the names of nodes; empty if unknown.
  std::string module;
  ParameterName parameter;
  bool isTrained = true;
};

/// Groups of candidates that are one parameter; the first member of each gives
/// it its name and orientation. Equal elements are no proof: layers that start
/// as copies of one another are apart. One parameter are
///
///   - a lookup table and the products (a language model's head) and other
///     lookups of the same elements, perhaps transposed;
///   - tensors that an exporter made for one module and role;
///   - what `--tie A=B` says.
///
/// Without `compare`, the last alone. Notes tell what is equal but was not
/// tied.
llvm::SmallVector<llvm::SmallVector<ParameterUse>>
tieParameters(llvm::ArrayRef<Candidate> candidates, bool compare,
              const ImportOptions &options, ImportReport &report);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_PARAMETERS_TIEPARAMETERS_H
