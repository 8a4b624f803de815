//===- FoldedWeights.cpp - weights that may be folded constants -----------===//
//
// See FoldedWeights.h.
//
//===----------------------------------------------------------------------===//

#include "Exporters/FoldedWeights.h"
#include "File/Nodes.h"
#include "dtc/Support/ModulePath.h"

using namespace llvm;

namespace dtc::frontend {

static bool isProduct(const onnx::NodeProto &node) {
  return node.op_type() == "MatMul" || node.op_type() == "Gemm";
}

namespace {
/// The contents of modules, by the paths of nodes.
struct Modules {
  explicit Modules(const onnx::GraphProto &graph);

  /// Whether a module directly contains only products and sums.
  bool isLinear(const std::string &module) const {
    return !others.contains(module);
  }

  StringSet<> others;
  /// Tensors that are added to a product, by the product's name.
  StringMap<SmallVector<StringRef, 1>> added;
};
} // namespace

Modules::Modules(const onnx::GraphProto &graph) {
  for (const onnx::NodeProto &node : graph.node()) {
    std::string module = getModulePath(node.name());
    if (node.op_type() == "Add") {
      for (int i : {0, 1})
        if (node.input_size() == 2)
          added[node.input(i)].push_back(node.input(1 - i));
    } else if (!isProduct(node)) {
      others.insert(module);
    }
    // A module that contains other modules is not a layer.
    while (!module.empty()) {
      module = splitName(module).first.str();
      others.insert(module);
    }
  }
}

/// Whether operators of this kind read unchanged parameters under their own
/// names. Other operators read reshaped, packed or merged ones.
static bool readsParameters(const onnx::NodeProto &node) {
  static const StringSet<> ops = {"Gather", "Gemm", "Einsum",
                                  "LayerNormalization"};
  return ops.contains(node.op_type());
}

StringSet<> findFoldedWeights(const Model &model) {
  StringSet<> found;
  if (model.record.isKnown())
    return found;
  Modules modules(model.graph());
  for (const onnx::NodeProto &node : model.graph().node()) {
    if (!StringRef(node.name()).starts_with("/"))
      continue;
    for (auto [i, input] : enumerate(node.input()))
      if (readsParameters(node) && !(i == 1 && isProduct(node)) &&
          StringRef(input).starts_with("onnx::"))
        found.insert(input);
    if (!isProduct(node) || node.input_size() < 2 ||
        !StringRef(node.input(1)).starts_with("onnx::"))
      continue;
    std::string module = getModulePath(node.name());
    bool hasBias =
        any_of(modules.added.lookup(node.output(0)),
               [&](StringRef bias) { return splitName(bias).first == module; });
    // The product would transpose a linear layer's own weight.
    bool isTransposed = readInt(node, "transB", 0);
    if (isTransposed || !(hasBias || modules.isLinear(module)))
      found.insert(node.input(1));
  }
  return found;
}

bool isPerhapsMasked(StringRef name, const TensorData &data) {
  // The biases of recurrent layers are concatenated, and may start with zeros.
  if (!name.starts_with("onnx::") || name.contains("LSTM") ||
      name.contains("GRU") || name.contains("RNN") || data.shape.size() < 2)
    return false;
  size_t count = numElements(data.shape), zeros = 0;
  size_t size = count ? data.bytes.size() / count : 0;
  for (size_t i = 0; i < count; ++i)
    zeros += all_of(data.bytes.slice(i * size, size),
                    [](char byte) { return byte == 0; });
  return size > 0 && zeros > 0 && zeros < count;
}

} // namespace dtc::frontend
