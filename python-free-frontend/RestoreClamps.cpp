//===- RestoreClamps.cpp - bounds that are numbers ------------------------===//
//
// See RestoreClamps.h.
//
//===----------------------------------------------------------------------===//

#include "RestoreClamps.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace dtc::frontend {

/// Whether a call has a bound that the exporter made of a number.
static bool hasNumber(const FxCall &call) {
  return any_of(call.arguments, [](const auto &argument) {
    return any_of(argument, [](StringRef value) {
      return getStem(value) == "scalar_tensor_default";
    });
  });
}

void restoreClamps(FxGraph &graph) {
  for (int i = 0; i < graph.size(); ++i) {
    onnx::NodeProto &node = graph.node(i);
    const std::optional<FxCall> &call = graph.origin(i).call;
    bool isMax = node.op_type() == "Max";
    if ((!isMax && node.op_type() != "Min") || node.input_size() != 2 ||
        !call || call->op != "clamp" || !hasNumber(*call))
      continue;
    const onnx::TensorProto *bound = graph.findTensor(node.input(1));
    if (!bound || bound->dims_size() > 0)
      continue;
    node.set_op_type("Clip");
    if (!isMax) {
      node.add_input(node.input(1));
      node.set_input(1, ""); // no lower bound
    }
  }
}

} // namespace dtc::frontend
