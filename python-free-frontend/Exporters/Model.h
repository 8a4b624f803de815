//===- Model.h - a graph as its author wrote it --------------- -*- C++ -*-===//
//
// The result of `restoreModel`: the graph without what its exporter did to it,
// and what the exporter says of its tensors.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_EXPORTERS_MODEL_H
#define DTC_FRONTEND_EXPORTERS_MODEL_H

#include "Exporters/RestoredTensors.h"
#include "Exporters/TensorRecord.h"
#include "File/ModelFile.h"

namespace dtc::frontend {

struct Model : ModelFile {
  llvm::StringMap<const onnx::TensorProto *> initializers;
  /// Whether any of these has a name that the exporter did not make up.
  bool hasNames = false;
  /// What the exporter says of tensors, and what was made of the graph by it.
  TensorRecord record;
  RestoredTensors restored;
  /// Whether tensors have the names of PyTorch's state dict, and nodes begin
  /// with the path of their module, "/encoder/fc/".
  bool hasPyTorchNames = false;
  /// What no file of this exporter tells of training; empty if others do not
  /// either.
  llvm::StringRef untold;

  const onnx::GraphProto &graph() const { return proto->graph(); }
};

} // namespace dtc::frontend

#endif // DTC_FRONTEND_EXPORTERS_MODEL_H
