//===- KeepOneBias.cpp - recurrent layers with one bias -------------------===//
//
// See KeepOneBias.h.
//
//===----------------------------------------------------------------------===//

#include "KeepOneBias.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace dtc::frontend {

/// Whether the biases are added before anything else is done with them.
static bool addsBiases(const onnx::NodeProto &node) {
  if (node.op_type() != "GRU")
    return node.op_type() == "LSTM" || node.op_type() == "RNN";
  return none_of(node.attribute(), [](const onnx::AttributeProto &attribute) {
    return attribute.name() == "linear_before_reset" && attribute.i() != 0;
  });
}

/// [directions, both biases], of which the second are zero.
static bool hasOneBias(const onnx::TensorProto &tensor, TensorReader &reader) {
  Expected<TensorData> data = reader.read(tensor);
  if (!data) {
    consumeError(data.takeError()); // said when the tensor is used
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

/// Adds a node, with the integers that say what it does as initializers.
static void
addNode(onnx::GraphProto &graph, const char *op, const std::string &input,
        const std::string &output,
        ArrayRef<std::pair<const char *, std::vector<int64_t>>> operands) {
  onnx::NodeProto &node = *graph.add_node();
  node.set_op_type(op);
  node.add_input(input);
  node.add_output(output);
  for (const auto &[what, values] : operands) {
    onnx::TensorProto &tensor = *graph.add_initializer();
    tensor.set_name(output + "/" + what);
    tensor.set_data_type(onnx::TensorProto::INT64);
    tensor.add_dims(values.size());
    for (int64_t value : values)
      tensor.add_int64_data(value);
    node.add_input(tensor.name());
  }
}

void keepOneBias(onnx::GraphProto &graph, TensorReader &reader) {
  StringMap<const onnx::TensorProto *> tensors;
  for (const onnx::TensorProto &tensor : graph.initializer())
    tensors[tensor.name()] = &tensor;
  StringSet<> done;
  google::protobuf::RepeatedPtrField<onnx::NodeProto> nodes;
  nodes.Swap(graph.mutable_node());
  for (onnx::NodeProto &node : nodes) {
    const onnx::TensorProto *biases = addsBiases(node) && node.input_size() > 3
                                          ? tensors.lookup(node.input(3))
                                          : nullptr;
    std::string kept = biases ? biases->name() + "/kept" : "";
    if (biases && !tensors.contains(kept) && hasOneBias(*biases, reader)) {
      if (done.insert(kept).second) {
        int64_t count = biases->dims(1) / 2;
        addNode(graph, "Slice", biases->name(), biases->name() + "/first",
                {{"starts", {0}}, {"ends", {count}}, {"axes", {1}}});
        addNode(graph, "Pad", biases->name() + "/first", kept,
                {{"pads", {0, 0, 0, count}}});
      }
      node.set_input(3, kept);
    }
    *graph.add_node() = std::move(node);
  }
}

} // namespace dtc::frontend
