//===- SplitSharedWeights.cpp - modules with weights of their own ---------===//
//
// See Rewrites.h.
//
//===----------------------------------------------------------------------===//

#include "Exporters/GeneratedNames.h"
#include "Exporters/Rewrites.h"
#include "dtc/Support/ModulePath.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace dtc::frontend {

void splitSharedWeights(onnx::GraphProto &graph) {
  StringMap<int> tensors;
  StringSet<> names;
  for (auto [i, tensor] : enumerate(graph.initializer())) {
    names.insert(tensor.name());
    if (isGeneratedName(tensor.name()))
      tensors[tensor.name()] = i;
  }
  /// New name of each tensor for each module.
  StringMap<StringMap<std::string>> owners;
  for (onnx::NodeProto &node : *graph.mutable_node()) {
    std::string module = StringRef(node.name()).starts_with("/")
                             ? getModulePath(node.name())
                             : "";
    if (node.op_type() != "MatMul" || node.input_size() != 2 || module.empty())
      continue;
    std::string weight = node.input(1);
    auto tensor = tensors.find(weight);
    if (tensor == tensors.end())
      continue;
    StringMap<std::string> &own = owners[weight];
    auto [it, isNew] = own.try_emplace(module, weight);
    if (isNew && own.size() > 1) {
      std::string name = weight + "_" + std::to_string(own.size());
      while (!names.insert(name).second)
        name += "_";
      onnx::TensorProto &copy = *graph.add_initializer();
      copy = graph.initializer(tensor->second);
      copy.set_name(name);
      it->second = name;
    }
    node.set_input(1, it->second);
  }
}

} // namespace dtc::frontend
