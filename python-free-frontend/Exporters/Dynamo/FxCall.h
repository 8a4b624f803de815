//===- FxCall.h - calls that dynamo records with nodes -------- -*- C++ -*-===//
//
// PyTorch's dynamo exporter keeps with each node the call of torch.export that
// the node comes from, the modules around that call and its line of source:
//
//   pkg.torch.onnx.fx_node: %linear : [num_users=1] = call_function[target=
//       torch.ops.aten.linear.default](args = (%x, %p_fc_weight), ...)
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_EXPORTERS_DYNAMO_FXCALL_H
#define DTC_FRONTEND_EXPORTERS_DYNAMO_FXCALL_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"

#include <onnx/onnx_pb.h>

#include <optional>
#include <string>
#include <vector>

namespace dtc::frontend {

/// A call of torch.export.
struct FxCall {
  std::string result;
  /// "linear" of "torch.ops.aten.linear.default".
  std::string op;
  /// The values that each positional argument names.
  std::vector<llvm::SmallVector<std::string, 1>> arguments;
  /// The value of each positional argument that is an integer.
  std::vector<std::optional<int64_t>> integers;
  /// Each positional argument as it is written: "%x", "None", "0.1".
  std::vector<std::string> texts;
  /// Arguments with a name, as they are written: {value: 0.5}.
  llvm::StringMap<std::string> keywords;

  bool uses(llvm::StringRef value) const;
};

/// "embedding" of the call "embedding_1".
llvm::StringRef getStem(llvm::StringRef call);
/// 1 of the call "embedding_1", 0 of "embedding": calls are numbered by stem.
int64_t getNumber(llvm::StringRef call);
/// "embedding_1" of "embedding" and 1, "embedding" of it and 0.
std::string makeCallName(llvm::StringRef stem, int64_t number);

/// The call that a node comes from, if the exporter says.
std::optional<FxCall> readFxCall(const onnx::NodeProto &node);

/// The modules around a node from the outermost to its own: "", "model",
/// "model.layers.0".
std::vector<std::string> readModules(const onnx::NodeProto &node);

/// The innermost line of source that made a node: "return self.fc(x)".
std::string readSourceLine(const onnx::NodeProto &node);

/// Replaces values in the call that is recorded with a node, and modules around
/// it.
void renameInCall(onnx::NodeProto &node,
                  const llvm::StringMap<std::string> &values);
void renameModules(onnx::NodeProto &node,
                   const llvm::StringMap<std::string> &modules);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_EXPORTERS_DYNAMO_FXCALL_H
