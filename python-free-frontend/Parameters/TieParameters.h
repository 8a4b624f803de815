//===- TieParameters.h - tensors that share a parameter ---------*- C++ -*-===//

#ifndef DTC_FRONTEND_PARAMETERS_TIEPARAMETERS_H
#define DTC_FRONTEND_PARAMETERS_TIEPARAMETERS_H

#include "Parameters/ParameterNames.h"
#include "Parameters/Parameters.h"
#include "Parameters/TensorRoles.h"
#include "Support/Fingerprint.h"

namespace dtc::frontend {

/// A tensor that becomes a parameter, before tying.
struct Candidate {
  std::string name;   ///< name of the value
  std::string source; ///< name of the initializer or graph input
  TensorData data;
  Fingerprint print;
  TensorRole role;
  /// The module that uses the tensor, by node names; empty if unknown.
  std::string module;
  ParameterName parameter;
  bool isTrained = true;
};

/// Groups candidates that are one parameter. The first member of a group gives
/// it its name and orientation. Equal elements are no proof: layers that start
/// as copies of one another are separate. These are one parameter:
///
///   - a lookup table and the products (a language model's head) and other
///     lookups with equal elements, transposed or not;
///   - tensors that an exporter made for one module and role;
///   - the pairs of `--tie A=B`.
///
/// Without `compare`, only the pairs are tied. Notes name equal tensors that
/// stay separate.
llvm::SmallVector<llvm::SmallVector<ParameterUse>>
tieParameters(llvm::ArrayRef<Candidate> candidates, bool compare,
              const ImportOptions &options, ImportReport &report);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_PARAMETERS_TIEPARAMETERS_H
