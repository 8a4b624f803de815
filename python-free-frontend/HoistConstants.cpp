//===- HoistConstants.cpp - weights in nodes and inner graphs -------------===//
//
// See HoistConstants.h.
//
//===----------------------------------------------------------------------===//

#include "HoistConstants.h"

#include "FxGraph.h"
#include "ParameterNames.h"
#include "llvm/ADT/StringSet.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace dtc::frontend {

static bool isWeight(const onnx::NodeProto &node) {
  if (node.op_type() != "Constant" || node.output_size() != 1 ||
      node.attribute_size() != 1 || node.attribute(0).name() != "value" ||
      isGeneratedName(node.output(0)))
    return false;
  const onnx::TensorProto &tensor = node.attribute(0).t();
  return tensor.dims_size() > 0 && isFloatTensor(&tensor);
}

void hoistConstants(onnx::GraphProto &graph) {
  if (any_of(graph.initializer(), [](const onnx::TensorProto &tensor) {
        return isFloatTensor(&tensor);
      }))
    return;
  google::protobuf::RepeatedPtrField<onnx::NodeProto> nodes;
  for (onnx::NodeProto &node : *graph.mutable_node()) {
    if (!isWeight(node)) {
      nodes.Add()->Swap(&node);
      continue;
    }
    onnx::TensorProto &tensor = *graph.add_initializer();
    tensor.Swap(node.mutable_attribute(0)->mutable_t());
    tensor.set_name(node.output(0));
  }
  graph.mutable_node()->Swap(&nodes);
}

/// Moves the initializers of inner graphs to `outer`, unless a name is taken.
static void
hoistFrom(google::protobuf::RepeatedPtrField<onnx::NodeProto> &nodes,
          onnx::GraphProto &outer, StringSet<> &names) {
  for (onnx::NodeProto &node : nodes)
    for (onnx::AttributeProto &attribute : *node.mutable_attribute()) {
      if (!attribute.has_g())
        continue;
      onnx::GraphProto &graph = *attribute.mutable_g();
      google::protobuf::RepeatedPtrField<onnx::TensorProto> kept;
      for (onnx::TensorProto &tensor : *graph.mutable_initializer())
        *(names.insert(tensor.name()).second ? outer.add_initializer()
                                             : kept.Add()) = std::move(tensor);
      graph.mutable_initializer()->Swap(&kept);
      hoistFrom(*graph.mutable_node(), outer, names);
    }
}

static void collectNames(const onnx::GraphProto &graph, StringSet<> &names) {
  for (const onnx::ValueInfoProto &input : graph.input())
    names.insert(input.name());
  for (const onnx::NodeProto &node : graph.node()) {
    names.insert(node.output().begin(), node.output().end());
    for (const onnx::AttributeProto &attribute : node.attribute())
      if (attribute.has_g())
        collectNames(attribute.g(), names);
  }
}

void hoistInitializers(onnx::GraphProto &graph) {
  StringSet<> names;
  collectNames(graph, names);
  for (const onnx::TensorProto &tensor : graph.initializer())
    names.insert(tensor.name());
  hoistFrom(*graph.mutable_node(), graph, names);
}

} // namespace dtc::frontend
