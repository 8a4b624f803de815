//===- SeparateNames.cpp - results that have no parameter's name ----------===//
//
// See SeparateNames.h.
//
//===----------------------------------------------------------------------===//

#include "Exporters/Dynamo/SeparateNames.h"
#include "Exporters/Dynamo/FxGraph.h"

#include "llvm/ADT/STLExtras.h"

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

Error separateNames(onnx::ModelProto &model) {
  Expected<Provenance> read = Provenance::read(model);
  if (!read)
    return read.takeError();
  const Provenance &provenance = *read;
  if (!provenance.isKnown())
    return Error::success();
  FxGraph graph(*model.mutable_graph(), provenance);
  std::vector<std::string> clashes;
  for (const auto &tensor : model.graph().initializer())
    if (provenance.find(tensor.name()) && provenance.hasSources(tensor.name()))
      clashes.push_back(tensor.name());
  for (const auto &[index, node] : enumerate(model.graph().node())) {
    // An Identity that is no call is a parameter that equals another.
    if (node.op_type() == "Identity" && !graph.origin(int(index)).call)
      continue;
    for (const std::string &output : node.output())
      if (provenance.find(output))
        clashes.push_back(output);
  }
  Names names;
  for (const std::string &clash : clashes)
    do
      names[clash] = graph.makeCallName(clash);
    while (provenance.find(names[clash]));
  if (!names.empty())
    renameValues(*model.mutable_graph(), names);
  return Error::success();
}

} // namespace dtc::frontend
