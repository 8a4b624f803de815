//===- InitialWeights.h - weights from another file -------------*- C++ -*-===//
//
// Implements `--init FILE.safetensors`: each parameter starts as the tensor of
// the same name in the file.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_INITIALWEIGHTS_H
#define DTC_FRONTEND_INITIALWEIGHTS_H

#include "dtc/Frontend/ParameterTable.h"

namespace dtc {

/// A comparison of the file's names with the model's.
struct InitialWeights {
  /// Parameters that the file lacks. They keep their values.
  std::vector<std::string> missing;
  /// Tensors of the file that the model does not have.
  std::vector<std::string> unexpected;
  /// Prefix that the file's names have and the model's lack (`dropped`), or the
  /// reverse (`added`). At most one of them is not empty.
  std::string dropped, added;
  /// Buffers whose values differ in the file. The model keeps its own values.
  std::vector<std::string> kept;
  /// Tied tensors of the file that differ from the first one of their tie. The
  /// parameter starts as the first one.
  std::vector<std::string> differing;
};

/// Reads the weights of a safetensors file into `table`, in the element types
/// of the file; F16 and BF16 become F32. The function finds a parameter by its
/// name or by the name of a tied tensor, like PyTorch's load_state_dict. If no
/// name matches, it tries without the first part of the model's names ("model."
/// of a wrapper) or of the file's names. Errors: a file that is damaged, has
/// another shape for a parameter, or has no name of the model.
llvm::Expected<InitialWeights> loadInitialWeights(llvm::StringRef path,
                                                  ParameterTable &table);

} // namespace dtc

#endif // DTC_FRONTEND_INITIALWEIGHTS_H
