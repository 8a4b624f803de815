//===- HoistInitializers.cpp - initializers of inner graphs ---------------===//
//
// See HoistInitializers.h.
//
//===----------------------------------------------------------------------===//

#include "File/HoistInitializers.h"

#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace dtc::frontend {

/// Moves the initializers of inner graphs to `outer`, unless their name is
/// taken.
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
