//===- NodeCase.h - one of ONNX's node tests --------------------*- C++ -*-===//
//
// A model of one node, its inputs, and the outputs that ONNX expects.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_UNITTESTS_FRONTEND_NODECASE_H
#define DTC_UNITTESTS_FRONTEND_NODECASE_H

#include "Support/HostTensor.h"

#include <onnx/onnx_pb.h>

#include <filesystem>
#include <optional>

namespace dtc::test {

struct NodeCase {
  onnx::ModelProto model;
  std::vector<frontend::HostTensor> inputs, outputs;

  const onnx::NodeProto &node() const { return model.graph().node(0); }
  int64_t opset() const { return model.opset_import(0).version(); }
  /// The input of this name. It must exist.
  const frontend::HostTensor &input(llvm::StringRef name) const;

  /// Turns an input into a constant of the model.
  void makeConstant(llvm::StringRef name);

  /// Returns nothing if the folder has no test of a single standard operator
  /// with an opset and types that dtc supports.
  static std::optional<NodeCase> read(const std::filesystem::path &folder);

private:
  int findInput(llvm::StringRef name) const;
  /// The inputs as stored in the files.
  std::vector<onnx::TensorProto> inputProtos;
};

} // namespace dtc::test

#endif // DTC_UNITTESTS_FRONTEND_NODECASE_H
