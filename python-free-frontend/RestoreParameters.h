//===- RestoreParameters.h - the model's own tensors again ------*- C++ -*-===//
//
// An exporter's optimizer merges equal tensors, transposes weights, leaves out
// zero biases and looks up constant indices. Where its metadata tell what each
// operand was, the graph gets the tensors of the model's state dict back, under
// their names, with a node where a tensor has to be transposed or reshaped.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_RESTOREPARAMETERS_H
#define DTC_FRONTEND_RESTOREPARAMETERS_H

#include "Provenance.h"
#include "TensorData.h"

#include "llvm/ADT/StringSet.h"

namespace dtc::frontend {

struct RestoredTensors {
  /// Initializers whose elements are stored as those of their transpose.
  llvm::StringSet<> transposed;
  /// Initializers that the exporter computed of parameters that the file does
  /// not have: trained as they are.
  llvm::StringSet<> computed;
  /// Parameters that warnings name.
  llvm::StringSet<> explained;
  /// Other names of a tensor in the state dict.
  llvm::StringMap<std::vector<std::string>> aliases;
  /// Results of calls that the exporter computed of a parameter that is known.
  llvm::StringSet<> attributed;
  std::vector<std::string> notes, details, warnings;
};

RestoredTensors restoreParameters(onnx::GraphProto &graph,
                                  const Provenance &provenance,
                                  TensorReader &reader);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_RESTOREPARAMETERS_H
