//===- ShareStatistics.cpp - batch norms with several uses ----------------===//
//
// See Rewrites.h.
//
//===----------------------------------------------------------------------===//

#include "Exporters/Rewrites.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <set>

using namespace llvm;

namespace dtc::frontend {

void shareStatistics(onnx::GraphProto &graph, bool hasRecord) {
  StringSet<> tensors;
  for (const auto &initializer : graph.initializer())
    tensors.insert(initializer.name());
  StringMap<std::string> origins;
  std::set<std::vector<std::string>> modules;
  for (onnx::NodeProto &node : *graph.mutable_node()) {
    auto findOrigin = [&](int operand) -> std::string {
      const std::string &name = node.input(operand);
      auto found = origins.find(name);
      return found == origins.end() ? name : found->second;
    };
    bool isCopy = node.op_type() == "Identity" && node.input_size() == 1 &&
                  node.output_size() == 1;
    if (hasRecord && isCopy)
      origins[node.output(0)] = findOrigin(0);
    if (node.op_type() != "BatchNormalization" || node.input_size() != 5)
      continue;
    // A norm without weights has separate constants for each use.
    auto getWeight = [&](int operand) {
      const std::string &name = node.input(operand);
      return tensors.contains(name) ? name : std::string();
    };
    std::string mean = findOrigin(3), variance = findOrigin(4);
    bool isUsedAgain =
        !modules.insert({getWeight(1), getWeight(2), mean, variance}).second;
    if (isUsedAgain) {
      node.set_input(3, mean);
      node.set_input(4, variance);
    }
    for (int i = 1; i < std::min(3, node.output_size()); ++i)
      origins[node.output(i)] = node.input(i + 2);
  }
}

} // namespace dtc::frontend
