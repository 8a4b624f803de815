//===- FreezeSecondBias.cpp - recurrent layers with one bias --------------===//
//
// See Rewrites.h.
//
//===----------------------------------------------------------------------===//

#include "Exporters/GraphEditor.h"
#include "Exporters/Rewrites.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace dtc::frontend {

/// Whether the layer only ever uses the sum of both biases.
static bool addsBiases(const onnx::NodeProto &node) {
  if (node.op_type() != "GRU")
    return node.op_type() == "LSTM" || node.op_type() == "RNN";
  return none_of(node.attribute(), [](const onnx::AttributeProto &attribute) {
    return attribute.name() == "linear_before_reset" && attribute.i() != 0;
  });
}

/// Whether the second half of a bias tensor [directions, both biases] is zero.
static bool hasOneBias(const onnx::TensorProto &tensor, TensorReader &reader) {
  Expected<TensorData> data = reader.read(tensor);
  if (!data) {
    consumeError(data.takeError()); // reported at the node that uses it
    return false;
  }
  if (!data->hasData || tensor.data_type() != onnx::TensorProto::FLOAT ||
      data->shape.size() != 2)
    return false;
  HostTensor biases = toHostTensor(*data);
  int64_t both = data->shape[1];
  for (int64_t i = 0; i < biases.size(); ++i)
    if (i % both >= both / 2 && biases.getFloat(i) != 0)
      return false;
  return true;
}

void freezeSecondBias(onnx::GraphProto &proto, TensorReader &reader) {
  GraphEditor graph(proto);
  for (int index = 0; index < graph.size(); ++index) {
    onnx::NodeProto &node = graph.node(index);
    const onnx::TensorProto *biases = addsBiases(node) && node.input_size() > 3
                                          ? graph.findTensor(node.input(3))
                                          : nullptr;
    if (!biases || !hasOneBias(*biases, reader))
      continue;
    int64_t count = biases->dims(1) / 2;
    auto integers = [&](StringRef what, ArrayRef<int64_t> values) {
      return graph.addIntegers(node.input(3) + "/" + what, values,
                               {int64_t(values.size())});
    };
    std::string first =
        graph.applyBefore(index, "Slice",
                          {node.input(3), integers("starts", {0}),
                           integers("ends", {count}), integers("axes", {1})});
    node.set_input(
        3, graph.applyBefore(index, "Pad",
                             {first, integers("pads", {0, 0, 0, count})}));
  }
  graph.insertNodes();
}

} // namespace dtc::frontend
