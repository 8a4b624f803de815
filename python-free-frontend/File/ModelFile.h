//===- ModelFile.h - sound, flat ONNX graph ---------------------*- C++ -*-===//
//
// Reads a model file, checks its graph and inlines its functions. All later
// steps may assume unique names, sorted nodes and operands that exist.
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

/// Reads and checks a file. An error is one line.
llvm::Expected<ModelFile> readModelFile(llvm::StringRef path);

/// Name of a node in messages: its own name, or "<Op>_<index>" if it has none.
std::string nodeName(const onnx::NodeProto &node, int index);

/// Checks that names are unique, and that values are defined before their use.
/// Cycles are errors.
llvm::Error verifyGraph(const onnx::GraphProto &graph);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_FILE_MODELFILE_H
