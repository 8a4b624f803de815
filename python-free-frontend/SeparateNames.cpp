//===- SeparateNames.cpp - results that have no parameter's name ----------===//
//
// See SeparateNames.h.
//
//===----------------------------------------------------------------------===//

#include "SeparateNames.h"
#include "Provenance.h"

#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace dtc::frontend {

using Names = StringMap<std::string>;

template <typename Strings>
static void renameAll(Strings &strings, const Names &names) {
  for (std::string &string : strings)
    if (auto it = names.find(string); it != names.end())
      string = it->second;
}

/// In a graph with what it contains: no value has the name of an outer one.
static void renameValues(onnx::GraphProto &graph, const Names &names) {
  for (onnx::TensorProto &tensor : *graph.mutable_initializer())
    if (auto it = names.find(tensor.name()); it != names.end())
      tensor.set_name(it->second);
  for (onnx::NodeProto &node : *graph.mutable_node()) {
    renameAll(*node.mutable_input(), names);
    renameAll(*node.mutable_output(), names);
    renameInCall(node, names);
    for (onnx::AttributeProto &attribute : *node.mutable_attribute())
      if (attribute.has_g())
        renameValues(*attribute.mutable_g(), names);
  }
  for (auto *values : {graph.mutable_value_info(), graph.mutable_output()})
    for (onnx::ValueInfoProto &value : *values)
      if (auto it = names.find(value.name()); it != names.end())
        value.set_name(it->second);
}

void separateNames(onnx::ModelProto &model) {
  Provenance provenance(model);
  onnx::GraphProto &graph = *model.mutable_graph();
  StringSet<> taken;
  std::vector<StringRef> clashes;
  for (const auto &input : graph.input())
    taken.insert(input.name());
  for (const auto &tensor : graph.initializer()) {
    taken.insert(tensor.name());
    if (provenance.find(tensor.name()) && provenance.hasSources(tensor.name()))
      clashes.push_back(tensor.name());
  }
  for (const auto &node : graph.node()) {
    std::optional<FxCall> call = readFxCall(node);
    if (call) {
      taken.insert(call->result);
      for (const auto &argument : call->arguments)
        taken.insert(argument.begin(), argument.end());
    }
    // An Identity that is no call is a parameter that equals another.
    bool isParameter = node.op_type() == "Identity" && !call;
    for (const std::string &output : node.output()) {
      taken.insert(output);
      if (provenance.find(output) && !isParameter)
        clashes.push_back(output);
    }
  }
  Names names;
  for (StringRef clash : clashes) {
    int64_t number = getNumber(clash);
    std::string name;
    do
      name = makeCallName(getStem(clash), ++number);
    while (provenance.find(name) || !taken.insert(name).second);
    names[clash] = name;
  }
  if (!names.empty())
    renameValues(graph, names);
}

} // namespace dtc::frontend
