//===- Model.h - a graph as its author wrote it --------------- -*- C++ -*-===//
//
// The result of `restoreModel`: the graph without the rewrites of its exporter,
// and the exporter's record of tensors.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_EXPORTERS_MODEL_H
#define DTC_FRONTEND_EXPORTERS_MODEL_H

#include "Exporters/RestoredTensors.h"
#include "Exporters/TensorRecord.h"
#include "File/ModelFile.h"

namespace dtc::frontend {

/// A model, restored.
struct Model : ModelFile {
  llvm::StringMap<const onnx::TensorProto *> initializers;
  /// Whether an initializer has a name that the exporter did not invent.
  bool hasNames = false;
  /// The exporter's record, and the tensors that the rewrites made.
  TensorRecord record;
  RestoredTensors restored;
  /// Whether tensors have the names of PyTorch's state dict, and names of nodes
  /// begin with the path of their module, "/encoder/fc/".
  bool hasPyTorchNames = false;
  /// Start of a message that says which facts files of this exporter lack.
  /// Empty if there are none.
  llvm::StringRef unrecorded;

  const onnx::GraphProto &graph() const { return proto->graph(); }
};

} // namespace dtc::frontend

#endif // DTC_FRONTEND_EXPORTERS_MODEL_H
