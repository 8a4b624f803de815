//===- RestoreClamps.cpp - bounds that are numbers ------------------------===//
//
// See RestoreClamps.h.
//
//===----------------------------------------------------------------------===//

#include "Exporters/Dynamo/RestoreClamps.h"

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

/// Whether an attribute of Constant is one number.
static bool isOneNumber(const onnx::AttributeProto &attribute) {
  StringRef name = attribute.name();
  return name == "value_int" || name == "value_float" ||
         (name == "value" && attribute.t().dims_size() == 0);
}

/// Values that are one number each, by initializers or by nodes.
static StringSet<> findNumbers(const FxGraph &graph) {
  StringSet<> numbers;
  for (int i = 0; i < graph.size(); ++i) {
    const onnx::NodeProto &node = graph.node(i);
    auto isNumber = [&](const std::string &value) {
      const onnx::TensorProto *tensor = graph.findTensor(value);
      return numbers.contains(value) || (tensor && tensor->dims_size() == 0);
    };
    for (const std::string &input : node.input())
      if (isNumber(input))
        numbers.insert(input);
    StringRef op = node.op_type();
    bool isConstant = op == "Constant" && any_of(node.attribute(), isOneNumber);
    bool isCast = (op == "Cast" || op == "CastLike") && node.input_size() > 0 &&
                  isNumber(node.input(0));
    if (node.output_size() > 0 && (isConstant || isCast))
      numbers.insert(node.output(0));
  }
  return numbers;
}

void restoreClamps(FxGraph &graph) {
  StringSet<> numbers = findNumbers(graph);
  for (int i = 0; i < graph.size(); ++i) {
    onnx::NodeProto &node = graph.node(i);
    const std::optional<FxCall> &call = graph.origin(i).call;
    bool isMax = node.op_type() == "Max";
    if ((!isMax && node.op_type() != "Min") || node.input_size() != 2 ||
        !call || call->op != "clamp" || !hasNumber(*call) ||
        !numbers.contains(node.input(1)))
      continue;
    node.set_op_type("Clip");
    if (!isMax) {
      node.add_input(node.input(1));
      node.set_input(1, ""); // no lower bound
    }
  }
}

} // namespace dtc::frontend
