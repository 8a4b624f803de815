//===- ParameterNames.h - readable parameter names --------------*- C++ -*-===//
//
// An exporter that computes a tensor, such as a transposed weight, invents a
// name for it ('onnx::MatMul_79'). The name of the node that uses the tensor
// still contains the path of the module.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_PARAMETERS_PARAMETERNAMES_H
#define DTC_FRONTEND_PARAMETERS_PARAMETERNAMES_H

#include "Exporters/Model.h"

#include "llvm/ADT/StringSet.h"

namespace dtc::frontend {

struct ParameterName {
  std::string text;
  /// Whether the model has the transpose of the parameter of this name.
  bool transposed = false;
  /// Whether the parameter is a vector, and the model has it with additional
  /// dimensions of size 1.
  bool isVector = false;
};

class ParameterNamer {
public:
  explicit ParameterNamer(const Model &model);

  /// Chooses the parameter name of a value. A name that the exporter did not
  /// invent stays. An invented name becomes that of the module whose node uses
  /// the value first: the second operand of node
  /// '/transformer/h.0/attn/c_proj/MatMul' becomes
  /// 'transformer.h.0.attn.c_proj.weight', transposed. The invented name stays
  /// if the node has no module, or if the new name is taken. `rank`: rank of
  /// the value.
  ParameterName choose(llvm::StringRef value, int rank);

  /// The module whose node uses a value with an invented name first; empty if
  /// there is none.
  std::string findModule(llvm::StringRef value) const;

private:
  /// The node's path with dots, and the operand's role for the operator.
  struct Use {
    std::string module, node, role;
    bool transposed;
  };
  const TensorRecord &record;
  llvm::StringMap<Use> uses;
  llvm::StringSet<> slopes;
  llvm::StringSet<> taken;
};

} // namespace dtc::frontend

#endif // DTC_FRONTEND_PARAMETERS_PARAMETERNAMES_H
