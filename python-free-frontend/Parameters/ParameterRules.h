//===- ParameterRules.h - whether a tensor is trained -----------*- C++ -*-===//
//
// The exporter's record decides if there is one. Without it:
//
//   - A tensor that is used as a weight is a parameter, unless it has the name
//     of a buffer.
//   - Any other tensor is a parameter if a person named it, and a constant if
//     an exporter did.
//   - Masks (magnitudes of 1e9 and more) are constants, and so are scalars that
//     are not used as weights, unless PyTorch wrote the file.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_PARAMETERS_PARAMETERRULES_H
#define DTC_FRONTEND_PARAMETERS_PARAMETERRULES_H

#include "Exporters/Model.h"
#include "Parameters/TensorRoles.h"
#include "Support/Fingerprint.h"

namespace dtc::frontend {

/// Says whether a tensor is a parameter, and how sure that is.
struct Verdict {
  bool isParameter;
  /// Whether the optimizer updates a parameter.
  bool isTrained = true;
  /// Whether a person should check the decision.
  bool isDoubtful = false;
  /// Whether the exporter computed the tensor, perhaps from parameters.
  bool isComputed = false;
  /// The reason why it is a constant: "buffer", "mask".
  llvm::StringRef reason = {};
};

/// Applies the rules to tensor `name`. `print` is the fingerprint of `data`.
Verdict judge(const Model &model, llvm::StringRef name, const TensorData &data,
              const Fingerprint &print, TensorRole role);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_PARAMETERS_PARAMETERRULES_H
