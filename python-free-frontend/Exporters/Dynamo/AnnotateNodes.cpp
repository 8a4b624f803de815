//===- AnnotateNodes.cpp - arguments that only calls have -----------------===//
//
// See Rewrites.h.
//
//===----------------------------------------------------------------------===//

#include "Exporters/Dynamo/RecordedCall.h"
#include "Exporters/Rewrites.h"
#include "File/Annotations.h"
#include "File/Nodes.h"

using namespace llvm;

namespace dtc::frontend {

static void annotate(onnx::NodeProto &node, const RecordedCall &call) {
  // embedding(weight, indices, padding_idx, scale_grad_by_freq)
  if (call.op == "embedding") {
    if (int64_t index = call.integer(2).value_or(-1); index >= 0)
      addInt(node, annotation::paddingIdx, index);
    if (call.text(3) == "True")
      addInt(node, annotation::scaleGradByFreq, 1);
  }
  // cross_entropy_loss(scores, labels, weight, reduction, ignore_index,
  //                    label_smoothing)
  if (call.op == "cross_entropy_loss" && !call.text(5).empty())
    addString(node, annotation::labelSmoothing, call.text(5));
  // The exporter writes all dimensions of squeeze(x, dims) as axes.
  if (call.op == "squeeze")
    addInt(node, annotation::keepOtherSizes, 1);
}

static void annotateAll(onnx::GraphProto &graph, bool isInBag) {
  for (onnx::NodeProto &node : *graph.mutable_node()) {
    if (auto modules = readModules(node); !modules.empty())
      addString(node, annotation::module, modules.back());
    std::optional<RecordedCall> call = readCall(node);
    if (call)
      annotate(node, *call);
    bool isBag = isInBag || (call && call->op == "embedding_bag");
    if (isBag)
      addInt(node, annotation::embeddingBag, 1);
    for (onnx::AttributeProto &attribute : *node.mutable_attribute())
      if (attribute.has_g())
        annotateAll(*attribute.mutable_g(), isBag);
  }
}

void annotateNodes(onnx::GraphProto &graph) {
  annotateAll(graph, /*isInBag=*/false);
}

} // namespace dtc::frontend
