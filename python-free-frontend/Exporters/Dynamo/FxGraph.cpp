//===- FxGraph.cpp - a graph with the calls it comes from -----------------===//
//
// See FxGraph.h.
//
//===----------------------------------------------------------------------===//

#include "Exporters/Dynamo/FxGraph.h"
#include "Exporters/Dynamo/FxRoles.h"
#include "File/InlineNodes.h"
#include "Support/TensorData.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace dtc::frontend {

/// "/model/layers.0/self_attn/node_linear_1".
static void nameNode(onnx::NodeProto &node, const NodeOrigin &origin) {
  std::string path;
  StringRef outer;
  for (StringRef module : origin.modules) {
    StringRef name = module;
    if (!outer.empty() && name.starts_with(outer) &&
        (name.size() == outer.size() || name[outer.size()] == '.'))
      name = name.drop_front(std::min(outer.size() + 1, name.size()));
    if (!name.empty())
      path += "/" + name.str();
    outer = module;
  }
  if (!path.empty() && !node.name().empty() &&
      !StringRef(node.name()).starts_with(path + "/"))
    node.set_name(path + "/" + node.name());
}

/// Of equal tensors the file has one: where a call names another than the node
/// reads, the node does not use what it reads.
void FxGraph::addUses(const onnx::NodeProto &node, const NodeOrigin &origin) {
  for (auto [operand, input] : enumerate(node.input())) {
    std::optional<StringRef> value =
        origin.call ? findValue(*origin.call, node, operand) : std::nullopt;
    const Origin *named = value ? provenance.findArgument(*value) : nullptr;
    if (!named || named->name == input)
      used.insert(input);
  }
  forEachCapture(node, [&](const std::string &name) { used.insert(name); });
}

FxGraph::FxGraph(onnx::GraphProto &graph, const Provenance &provenance)
    : GraphEditor(graph), provenance(provenance) {
  for (const auto &tensor : unread)
    used.insert(tensor.first());
  for (const auto &input : graph.input())
    values.insert(input.name());
  for (onnx::NodeProto &node : *graph.mutable_node()) {
    values.insert(node.output().begin(), node.output().end());
    NodeOrigin &origin = origins.emplace_back();
    origin.call = readFxCall(node);
    origin.modules = readModules(node);
    origin.source = readSourceLine(node);
    if (!origin.modules.empty())
      modules.insert(origin.modules.back());
    nameNode(node, origin);
    addUses(node, origin);
    if (!origin.call)
      continue;
    values.insert(origin.call->result);
    for (const auto &argument : origin.call->arguments)
      for (const std::string &value : argument) {
        named.insert(value);
        if (const Origin *tensor = provenance.findArgument(value))
          used.insert(tensor->name);
      }
  }
  for (const auto &output : graph.output())
    used.insert(output.name());
}

MapVector<StringRef, SmallVector<int>> FxGraph::findCalls() const {
  MapVector<StringRef, SmallVector<int>> calls;
  for (int index = 0; index < size(); ++index)
    if (const auto &call = origins[index].call)
      calls[call->result].push_back(index);
  return calls;
}

int64_t FxGraph::batch() const {
  if (graph.input_size() == 0)
    return 0;
  const auto &shape = graph.input(0).type().tensor_type().shape();
  return shape.dim_size() > 0 ? shape.dim(0).dim_value() : 0;
}

bool FxGraph::isGone(StringRef value) const {
  return !values.contains(value) && !provenance.findArgument(value) &&
         getStem(value) != "getitem";
}

std::string FxGraph::findMerged(int index, int operand) const {
  const FxCall &call = *origin(index).call;
  const std::string &input = node(index).input(operand);
  auto isOther = [&](StringRef value) {
    return isGone(value) && getStem(value) == getStem(input);
  };
  if (std::optional<StringRef> value = findValue(call, node(index), operand);
      value && (*value == input || isOther(*value)))
    return *value == input ? "" : value->str();
  if (call.uses(input))
    return "";
  std::string found;
  for (const auto &argument : call.arguments)
    for (const std::string &value : argument) {
      if (!isOther(value))
        continue;
      if (!found.empty() && found != value)
        return "";
      found = value;
    }
  return found;
}

std::string FxGraph::makeCallName(StringRef call) {
  int64_t number = getNumber(call);
  std::string name;
  do
    name = frontend::makeCallName(getStem(call), ++number);
  while (names.contains(name) || values.contains(name) ||
         !named.insert(name).second);
  return name;
}

} // namespace dtc::frontend
