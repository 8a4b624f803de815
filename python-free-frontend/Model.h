//===- Model.h - a loaded and structurally sound ONNX model -----*- C++ -*-===//
//
// Reads a model file and checks its graph: every later step may rely on unique
// names, sorted nodes and operands that exist.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_MODEL_H
#define DTC_FRONTEND_MODEL_H

#include "Provenance.h"
#include "RestoreParameters.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

#include <onnx/onnx_pb.h>

#include <memory>
#include <string>

namespace dtc::frontend {

struct Model {
  std::string path;
  std::shared_ptr<const onnx::ModelProto> proto;
  /// Version of the default operator set.
  int64_t opset = 0;
  llvm::StringMap<const onnx::TensorProto *> initializers;
  /// Whether any of these has a name that the exporter did not make up.
  bool hasNames = false;
  /// What the exporter says of tensors, and what was made of the graph by it.
  Provenance provenance;
  RestoredTensors restored;

  const onnx::GraphProto &graph() const { return proto->graph(); }
};

/// Reads `path` and checks it. Of its outputs only the wanted one stays, if it
/// is one. An error says what is wrong in one line.
llvm::Expected<Model> loadModel(llvm::StringRef path,
                                llvm::StringRef wantedOutput);

/// What diagnostics call a node: its name, or "<Op>_<index>" without one.
std::string nodeName(const onnx::NodeProto &node, int index);

/// Checks names and order: unique, defined before use, no cycle.
llvm::Error verifyGraph(const onnx::GraphProto &graph);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_MODEL_H
