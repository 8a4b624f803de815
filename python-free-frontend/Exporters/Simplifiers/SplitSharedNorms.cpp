//===- SplitSharedNorms.cpp - separate tensors for batch norms ------------===//
//
// See Rewrites.h.
//
//===----------------------------------------------------------------------===//

#include "Exporters/GeneratedNames.h"
#include "Exporters/Rewrites.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace dtc::frontend {

namespace {
constexpr StringLiteral roles[] = {"", "weight", "bias", "running_mean",
                                   "running_var"};

bool isNorm(const onnx::NodeProto &node) {
  return node.op_type() == "BatchNormalization" && node.input_size() == 5;
}

/// The module of a node, as TorchScript names nodes: "/n" of
/// "/n/BatchNormalization". Empty for other names.
StringRef getModule(const onnx::NodeProto &node) {
  StringRef name = node.name();
  return name.starts_with("/") ? name.rsplit('/').first : StringRef();
}

/// Whether two nodes are uses of one module. Such nodes share all four tensors.
/// If the module has no weights, each use has its own constants, and the nodes
/// share only the statistics.
bool isSameNorm(const onnx::NodeProto &a, const onnx::NodeProto &b) {
  if (!isNorm(a) || !isNorm(b))
    return false;
  auto isSame = [&](int i) { return a.input(i) == b.input(i); };
  bool isSamePath =
      !getModule(a).empty() && isSameModule(getModule(a), getModule(b));
  return all_of(seq(3, 5), isSame) && (isSamePath || all_of(seq(1, 3), isSame));
}

struct Use {
  const onnx::NodeProto *node;
  int operand;
};
} // namespace

void splitSharedNorms(onnx::GraphProto &graph) {
  StringMap<SmallVector<Use>> uses;
  StringSet<> names;
  for (const auto &initializer : graph.initializer())
    uses[initializer.name()];
  for (const auto &node : graph.node()) {
    for (auto [i, input] : enumerate(node.input())) {
      names.insert(input);
      if (auto found = uses.find(input); found != uses.end())
        found->second.push_back({&node, int(i)});
    }
    for (const std::string &output : node.output())
      names.insert(output);
  }
  auto isShared = [&](const onnx::NodeProto &norm) {
    return any_of(seq(3, 5), [&](int i) {
      auto found = uses.find(norm.input(i));
      if (found == uses.end())
        return false;
      const onnx::NodeProto &first = *found->second.front().node; // "/n"
      return any_of(found->second, [&](const Use &use) {
        return use.operand != i || !isSameNorm(first, *use.node);
      });
    });
  };

  // Decide this before any tensor is renamed.
  SmallVector<bool> separate;
  for (const auto &node : graph.node())
    separate.push_back(isNorm(node) && isShared(node));
  if (none_of(separate, [](bool is) { return is; }))
    return;
  google::protobuf::RepeatedPtrField<onnx::NodeProto> nodes;
  for (auto [index, node] : enumerate(*graph.mutable_node())) {
    for (int i = 1; separate[index] && i < 5; ++i) {
      if (!uses.contains(node.input(i)))
        continue;
      // Tensors that are named after the path get the name of the module.
      std::string name =
          StringRef(node.name()).starts_with("/") || node.name().empty()
              ? "onnx::BatchNormalization_" + std::to_string(index) + "_" +
                    roles[i].str()
              : node.name() + "." + roles[i].str();
      while (!names.insert(name).second)
        name += "_";
      onnx::NodeProto &copy = *nodes.Add();
      copy.set_op_type("Identity");
      copy.set_name(name);
      copy.add_input(node.input(i));
      copy.add_output(name);
      node.set_input(i, name);
    }
    nodes.Add()->Swap(&node);
  }
  graph.mutable_node()->Swap(&nodes);
}

} // namespace dtc::frontend
