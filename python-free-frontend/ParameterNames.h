//===- ParameterNames.h - names that people can read -------------*- C++
//-*-===//
//
// An exporter that stores a tensor it computed, such as a transposed weight,
// invents a name for it ('onnx::MatMul_79'). The node that uses the tensor
// still has the path of its module in its name.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_PARAMETERNAMES_H
#define DTC_FRONTEND_PARAMETERNAMES_H

#include "Model.h"

#include "llvm/ADT/StringSet.h"

namespace dtc::frontend {

/// Whether an exporter invented the name.
bool isGeneratedName(llvm::StringRef name);

class ParameterNamer {
public:
  explicit ParameterNamer(const Model &model);

  /// The name of the parameter that a value is: its own, or for a generated
  /// one that of the module whose node uses it first,
  /// 'transformer.h.0.attn.c_attn.weight' for the second operand of node
  /// '/transformer/h.0/attn/c_attn/MatMul'. Its own, too, if the node has no
  /// module or that name is taken.
  std::string choose(llvm::StringRef value);

private:
  /// The node's path with dots, and what the operand is to its op.
  struct Use {
    std::string module, node, role;
  };
  llvm::StringMap<Use> uses;
  llvm::StringSet<> taken;
};

} // namespace dtc::frontend

#endif // DTC_FRONTEND_PARAMETERNAMES_H
