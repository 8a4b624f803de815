//===- RecordedCall.h - calls that dynamo records with nodes ----*- C++ -*-===//
//
// PyTorch's dynamo exporter keeps with each node the call of torch.export that
// the node comes from, the modules around that call and its line of source:
//
//   pkg.torch.onnx.fx_node: %linear : [num_users=1] = call_function[target=
//       torch.ops.aten.linear.default](args = (%x, %p_fc_weight), ...)
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_EXPORTERS_DYNAMO_RECORDEDCALL_H
#define DTC_FRONTEND_EXPORTERS_DYNAMO_RECORDEDCALL_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"

#include <onnx/onnx_pb.h>

#include <optional>
#include <string>
#include <vector>

namespace dtc::frontend {

/// A call of torch.export.
struct RecordedCall {
  struct Argument {
    std::string text; ///< as it is written: "%x", "None", "0.1"
    /// The values that it names: several of a list.
    llvm::SmallVector<std::string, 1> values;
  };

  std::string result;
  /// "linear" of "torch.ops.aten.linear.default".
  std::string op;
  std::vector<Argument> arguments; ///< positional
  /// Arguments with a name, as they are written: {value: 0.5}.
  llvm::StringMap<std::string> keywords;

  /// The values that all positional arguments name.
  llvm::SmallVector<llvm::StringRef> values() const;
  bool names(llvm::StringRef value) const;
  /// A positional argument as it is written; "" without one.
  llvm::StringRef text(unsigned argument) const;
  std::optional<int64_t> integer(unsigned argument) const;
};

/// The exporter's record of a node.
struct NodeRecord {
  std::optional<RecordedCall> call;
  /// From the outermost to the node's own: "", "model", "model.layers.0".
  std::vector<std::string> modules;
  /// The line of the model's source that made the call: "return self.fc(x)".
  std::string source;

  llvm::StringRef module() const {
    return modules.empty() ? llvm::StringRef()
                           : llvm::StringRef(modules.back());
  }
};

/// "embedding" of the result "embedding_1": results are numbered by operator.
llvm::StringRef dropNumber(llvm::StringRef result);
/// 1 of the result "embedding_1", 0 of "embedding".
int64_t getNumber(llvm::StringRef result);
/// "embedding_1" of "embedding" and 1, "embedding" of it and 0.
std::string makeResultName(llvm::StringRef name, int64_t number);

std::optional<RecordedCall> readCall(const onnx::NodeProto &node);
std::vector<std::string> readModules(const onnx::NodeProto &node);
std::string readSourceLine(const onnx::NodeProto &node);
NodeRecord readNodeRecord(const onnx::NodeProto &node);

/// Replaces values in the call that is recorded with a node.
void renameInCall(onnx::NodeProto &node,
                  const llvm::StringMap<std::string> &values);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_EXPORTERS_DYNAMO_RECORDEDCALL_H
