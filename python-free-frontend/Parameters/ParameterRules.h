//===- ParameterRules.h - whether a tensor is trained -----------*- C++ -*-===//
//
// The exporter's record decides where there is one. Without it:
//
//   - what has a weight's role is a parameter, unless it has the name of a
//     buffer;
//   - what has another role is a parameter if a person named it, and a constant
//     if an exporter did;
//   - masks (magnitudes of 1e9 and more) and, unless PyTorch wrote the file,
//     scalars without a weight's role are constants.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_PARAMETERS_PARAMETERRULES_H
#define DTC_FRONTEND_PARAMETERS_PARAMETERRULES_H

#include "Exporters/Model.h"
#include "Parameters/TensorRoles.h"
#include "Support/Fingerprint.h"

namespace dtc::frontend {

struct Verdict {
  bool isParameter;
  /// Whether the optimizer updates a parameter.
  bool isTrained = true;
  bool isDoubtful = false;
  /// The exporter made it, perhaps of parameters.
  bool isComputed = false;
  /// Why it is a constant: "buffer", "mask".
  llvm::StringRef reason = {};
};

Verdict judge(const Model &model, llvm::StringRef name, const TensorData &data,
              const Fingerprint &print, TensorRole role);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_PARAMETERS_PARAMETERRULES_H
