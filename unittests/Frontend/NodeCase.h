//===- NodeCase.h - one of ONNX's node tests --------------------*- C++ -*-===//
//
// A model of one node with its inputs and the outputs that ONNX ships.
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
  /// The input of this name, which must exist.
  const frontend::HostTensor &input(llvm::StringRef name) const;

  /// Makes an input a constant of the model.
  void makeConstant(llvm::StringRef name);

  /// Nothing when the folder holds no test of one node of the standard
  /// operators, of an opset that dtc has, on types that it has.
  static std::optional<NodeCase> read(const std::filesystem::path &folder);

private:
  int findInput(llvm::StringRef name) const;
  /// As the files have them.
  std::vector<onnx::TensorProto> inputProtos;
};

} // namespace dtc::test

#endif // DTC_UNITTESTS_FRONTEND_NODECASE_H
