//===- AttentionMasks.cpp - what a boolean mask of attention hides --------===//
//
// PyTorch's exporter writes the boolean mask of `scaled_dot_product_attention`
// as the lowest number of its type. A query that may see no key has a result
// of 0 in PyTorch, but such scores, equal all, would give it the mean. The
// number becomes -inf, which the exporter's `IsNaN` turns into 0; without
// that, as older exporters write it, nothing changes.
//
//   Where(mask, 0, -3.4e38)   ->   Where(mask, 0, -inf)
//
// A mask that the model itself made of such numbers is not this call's.
//
//===----------------------------------------------------------------------===//

#include "Exporters/Dynamo/Rules.h"

#include "llvm/ADT/STLExtras.h"

#include <limits>

using namespace llvm;

namespace dtc::frontend {

/// Whether a tensor is a lowest number; 16 bits have the least one.
static bool isLowest(const RecordedProgram &program,
                     const onnx::TensorProto *tensor) {
  std::optional<TensorData> data = program.readFloats(tensor);
  return data && numElements(data->shape) == 1 &&
         toHostTensor(*data).getFloat(0) <= -65504;
}

void hideKeys(RecordedProgram &program) {
  for (const auto &[result, nodes] : program.findCalls()) {
    auto isOp = [&](int index, StringRef op) {
      return program.node(index).op_type() == op;
    };
    if (program.origin(nodes.front()).call->op !=
            "scaled_dot_product_attention" ||
        none_of(nodes, [&](int index) { return isOp(index, "IsNaN"); }))
      continue;
    for (int index : nodes) {
      onnx::NodeProto &node = program.node(index);
      if (!isOp(index, "Where") || node.input_size() != 3)
        continue;
      const onnx::TensorProto *tensor = program.findTensor(node.input(2));
      if (isLowest(program, tensor))
        node.set_input(
            2, program.addNumber(node.input(2) + "/hidden", *tensor,
                                 -std::numeric_limits<double>::infinity()));
    }
  }
}

} // namespace dtc::frontend
