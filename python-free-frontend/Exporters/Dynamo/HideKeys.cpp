//===- HideKeys.cpp - what a boolean mask of attention hides --------------===//
//
// See HideKeys.h.
//
//===----------------------------------------------------------------------===//

#include "Exporters/Dynamo/HideKeys.h"
#include "Support/TensorData.h"

#include "llvm/ADT/STLExtras.h"

#include <limits>

using namespace llvm;

namespace dtc::frontend {

/// A tensor of one element that is a lowest number; 16 bits have the least one.
static std::optional<TensorData> readLowest(const onnx::TensorProto *tensor,
                                            TensorReader &reader) {
  if (!isFloatTensor(tensor))
    return std::nullopt;
  Expected<TensorData> data = reader.read(*tensor);
  if (!data) {
    consumeError(data.takeError()); // said when the tensor is used
    return std::nullopt;
  }
  if (!data->hasData || numElements(data->shape) != 1 ||
      toHostTensor(*data).getFloat(0) > -65504)
    return std::nullopt;
  return *data;
}

template <typename T>
static std::string addMinusInfinity(FxGraph &graph, int32_t type,
                                    const std::string &name) {
  T value = -std::numeric_limits<T>::infinity();
  std::string unique = graph.makeName(name + "/hidden");
  graph.addTensor(
      type, StringRef(reinterpret_cast<const char *>(&value), sizeof value),
      unique, {});
  return unique;
}

void hideKeys(FxGraph &graph, TensorReader &reader) {
  for (const auto &[result, nodes] : graph.findCalls()) {
    if (graph.origin(nodes.front()).call->op !=
            "scaled_dot_product_attention" ||
        none_of(nodes,
                [&](int i) { return graph.node(i).op_type() == "IsNaN"; }))
      continue;
    for (int i : nodes) {
      onnx::NodeProto &node = graph.node(i);
      if (node.op_type() != "Where" || node.input_size() != 3)
        continue;
      const onnx::TensorProto *tensor = graph.findTensor(node.input(2));
      std::optional<TensorData> lowest = readLowest(tensor, reader);
      if (!lowest)
        continue;
      auto add = lowest->dtype == DType::F64 ? addMinusInfinity<double>
                                             : addMinusInfinity<float>;
      node.set_input(2, add(graph, tensor->data_type(), node.input(2)));
    }
  }
}

} // namespace dtc::frontend
