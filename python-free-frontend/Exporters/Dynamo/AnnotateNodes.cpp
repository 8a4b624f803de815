//===- AnnotateNodes.cpp - arguments that only calls have -----------------===//
//
// See AnnotateNodes.h.
//
//===----------------------------------------------------------------------===//

#include "Exporters/Dynamo/AnnotateNodes.h"
#include "Exporters/Dynamo/FxCall.h"
#include "File/Annotations.h"
#include "File/Nodes.h"

using namespace llvm;

namespace dtc::frontend {

/// The positional argument of this number as it is written; "" without one.
static StringRef getText(const FxCall &call, unsigned number) {
  return number < call.texts.size() ? StringRef(call.texts[number]) : "";
}

static void annotate(onnx::NodeProto &node) {
  if (auto modules = readModules(node); !modules.empty())
    addString(node, annotation::module, modules.back());
  std::optional<FxCall> call = readFxCall(node);
  if (!call)
    return;
  // embedding(weight, indices, padding_idx, scale_grad_by_freq)
  if (call->op == "embedding") {
    if (call->integers.size() > 2 && call->integers[2].value_or(-1) >= 0)
      addInt(node, annotation::paddingIdx, *call->integers[2]);
    if (getText(*call, 3) == "True")
      addInt(node, annotation::scaleGradByFreq, 1);
  }
  // cross_entropy_loss(scores, labels, weight, reduction, ignore_index,
  //                    label_smoothing)
  if (call->op == "cross_entropy_loss" && !getText(*call, 5).empty())
    addString(node, annotation::labelSmoothing, getText(*call, 5));
  // The exporter writes all dimensions of squeeze(x, dims) as axes.
  if (call->op == "squeeze")
    addInt(node, annotation::keepOtherSizes, 1);
}

static void annotateAll(onnx::GraphProto &graph, bool isInBag) {
  for (onnx::NodeProto &node : *graph.mutable_node()) {
    annotate(node);
    std::optional<FxCall> call = readFxCall(node);
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
