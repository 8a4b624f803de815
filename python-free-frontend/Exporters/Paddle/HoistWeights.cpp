//===- HoistWeights.cpp - weights that are Constant nodes -----------------===//
//
// See Rewrites.h.
//
//===----------------------------------------------------------------------===//

#include "Exporters/GeneratedNames.h"
#include "Exporters/Rewrites.h"

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

void hoistWeights(onnx::GraphProto &graph) {
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

} // namespace dtc::frontend
