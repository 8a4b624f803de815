//===- ParameterNames.h - names that people can read ------------*- C++ -*-===//
//
// An exporter that stores a tensor it computed, such as a transposed weight,
// invents a name for it ('onnx::MatMul_79'). The node that uses the tensor
// still has the path of its module in its name.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_PARAMETERS_PARAMETERNAMES_H
#define DTC_FRONTEND_PARAMETERS_PARAMETERNAMES_H

#include "Exporters/Model.h"

#include "llvm/ADT/StringSet.h"

namespace dtc::frontend {

struct ParameterName {
  std::string text;
  /// The model has the transpose of the parameter that bears the name.
  bool transposed = false;
  /// The model has the elements of the parameter, a vector, in more dimensions.
  bool isVector = false;
};

class ParameterNamer {
public:
  explicit ParameterNamer(const Model &model);

  /// The name of the parameter that a value is: its own, or for a generated
  /// one that of the module whose node uses it first,
  /// 'transformer.h.0.attn.c_proj.weight' for the second operand of node
  /// '/transformer/h.0/attn/c_proj/MatMul', where the exporter has transposed
  /// the weight of a linear layer. Its own, too, if the node has no module or
  /// that name is taken.
  ParameterName choose(llvm::StringRef value, int rank);

  /// The module whose node uses a value with a generated name first, or
  /// nothing.
  std::string findModule(llvm::StringRef value) const;

private:
  /// The node's path with dots, and what the operand is to its op.
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
