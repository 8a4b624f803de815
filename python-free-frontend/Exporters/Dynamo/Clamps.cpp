//===- Clamps.cpp - bounds that are numbers -------------------------------===//
//
// PyTorch's exporter makes a tensor of a bound that is an integer, and a Max
// or Min of `clamp` with one bound. Where x is the bound, Max shares its
// gradient among both; a number takes none, and x gets none there.
//
//   Max(x, 0)   ->   Clip(x, 0)        %y = clamp(%x, %scalar_tensor_default)
//
//===----------------------------------------------------------------------===//

#include "Exporters/Dynamo/Rules.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace dtc::frontend {

/// Whether a call has a bound that the exporter made of a number.
static bool hasNumber(const RecordedCall &call) {
  return any_of(call.values(), [](StringRef value) {
    return dropNumber(value) == "scalar_tensor_default";
  });
}

/// Whether an attribute of Constant is one number.
static bool isOneNumber(const onnx::AttributeProto &attribute) {
  StringRef name = attribute.name();
  return name == "value_int" || name == "value_float" ||
         (name == "value" && attribute.t().dims_size() == 0);
}

void restoreClamps(RecordedProgram &program) {
  StringSet<> computed; // numbers that nodes compute
  auto isNumber = [&](const std::string &value) {
    const onnx::TensorProto *tensor = program.findTensor(value);
    return computed.contains(value) || (tensor && tensor->dims_size() == 0);
  };
  for (int index = 0; index < program.size(); ++index) {
    onnx::NodeProto &node = program.node(index);
    StringRef op = node.op_type();
    bool isConstant = op == "Constant" && any_of(node.attribute(), isOneNumber);
    bool isCast = (op == "Cast" || op == "CastLike") && node.input_size() > 0 &&
                  isNumber(node.input(0));
    if (node.output_size() > 0 && (isConstant || isCast))
      computed.insert(node.output(0));
    const std::optional<RecordedCall> &call = program.origin(index).call;
    if ((op != "Max" && op != "Min") || node.input_size() != 2 || !call ||
        call->op != "clamp" || !hasNumber(*call) || !isNumber(node.input(1)))
      continue;
    if (op == "Min") {
      node.add_input(node.input(1));
      node.set_input(1, ""); // no lower bound
    }
    node.set_op_type("Clip");
  }
}

} // namespace dtc::frontend
