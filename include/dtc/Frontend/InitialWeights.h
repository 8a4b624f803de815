//===- InitialWeights.h - weights of another file ---------------*- C++ -*-===//
//
// `--init FILE.safetensors`: parameters start as the tensors of their names.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_INITIALWEIGHTS_H
#define DTC_FRONTEND_INITIALWEIGHTS_H

#include "dtc/Frontend/ParameterTable.h"

namespace dtc {

struct InitialWeights {
  /// Parameters that the file does not have: they start as before.
  std::vector<std::string> missing;
  /// Tensors of the file that are no parameters.
  std::vector<std::string> unexpected;
  /// What names in the file have in front that the model's lack, or lack.
  std::string dropped, added;
  /// Tensors without gradients that the file has otherwise: the model computes
  /// with its own.
  std::vector<std::string> kept;
  /// Tied tensors of the file that differ from the first of their tie, as
  /// which their parameter starts.
  std::vector<std::string> differing;
};

/// Takes weights from a safetensors file, converted to the parameters' types. A
/// parameter is found by its name or by that of a tie, as in PyTorch's
/// load_state_dict; if no name is the same, without the first part of the
/// model's names ("model." of a wrapper), or of the file's. A tensor of another
/// shape is an error.
llvm::Expected<InitialWeights> loadInitialWeights(llvm::StringRef path,
                                                  ParameterTable &table);

} // namespace dtc

#endif // DTC_FRONTEND_INITIALWEIGHTS_H
