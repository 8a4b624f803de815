//===- ModelFile.h - a sound, flat ONNX graph ----------------- -*- C++ -*-===//
//
// Reads a model file, checks its graph and inlines its functions. Every later
// step may rely on unique names, sorted nodes and operands that exist.
//
// In:  the bytes of a file.
// Out: a graph of nodes without local functions.
// May include Support/.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_FILE_MODELFILE_H
#define DTC_FRONTEND_FILE_MODELFILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <onnx/onnx_pb.h>

#include <memory>
#include <string>

namespace dtc::frontend {

struct ModelFile {
  std::string path;
  std::shared_ptr<onnx::ModelProto> proto;
  /// Version of the default operator set.
  int64_t opset = 0;
};

/// An error says what is wrong in one line.
llvm::Expected<ModelFile> readModelFile(llvm::StringRef path);

/// What diagnostics call a node: its name, or "<Op>_<index>" without one.
std::string nodeName(const onnx::NodeProto &node, int index);

/// Checks names and order: unique, defined before use, no cycle.
llvm::Error verifyGraph(const onnx::GraphProto &graph);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_FILE_MODELFILE_H
