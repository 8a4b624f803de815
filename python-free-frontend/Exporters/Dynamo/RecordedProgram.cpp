//===- RecordedProgram.cpp - a graph with the calls it comes from ---------===//
//
// See RecordedProgram.h.
//
//===----------------------------------------------------------------------===//

#include "Exporters/Dynamo/RecordedProgram.h"
#include "Exporters/Dynamo/CallTable.h"
#include "Exporters/Dynamo/Metadata.h"
#include "File/InlineNodes.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace dtc::frontend {

static std::vector<std::string> readSteps(const onnx::ValueInfoProto &value) {
  return readQuoted(readMetadata(value.unknown_fields(), valueMetadata,
                                 "pkg.onnxscript.optimizer.folded_from"));
}

RecordedProgram::RecordedProgram(onnx::GraphProto &graph,
                                 const RecordedTensors &tensors,
                                 TensorReader &reader)
    : GraphEditor(graph), record(tensors), reader(reader) {
  for (const onnx::NodeProto &node : graph.node())
    origins.push_back(readNodeRecord(node));
  for (const onnx::ValueInfoProto &value : graph.value_info())
    if (std::vector<std::string> list = readSteps(value); !list.empty())
      steps[value.name()] = std::move(list);
  findUses();
}

/// Collects the names in nodes and in their calls.
void RecordedProgram::findUses() {
  for (const auto &tensor : unread)
    used.insert(tensor.first());
  for (const auto &input : graph.input())
    values.insert(input.name());
  for (const auto &output : graph.output())
    used.insert(output.name());
  for (auto [node, origin] : zip(graph.node(), origins)) {
    values.insert(node.output().begin(), node.output().end());
    addUses(node, origin);
    if (!origin.call)
      continue;
    values.insert(origin.call->result);
    for (StringRef value : origin.call->values())
      named.insert(value);
    for (const Origin *tensor : findTensors(*origin.call))
      used.insert(tensor->name);
  }
}

/// The file has one of several equal tensors. If the call names another tensor
/// than its node reads, the node does not use the tensor that it reads.
void RecordedProgram::addUses(const onnx::NodeProto &node,
                              const NodeRecord &origin) {
  for (auto [operand, input] : enumerate(node.input())) {
    std::optional<StringRef> value =
        origin.call ? findValue(*origin.call, node, operand) : std::nullopt;
    const Origin *tensor = value ? record.findArgument(*value) : nullptr;
    if (!tensor || tensor->name == input)
      used.insert(input);
  }
  forEachCapture(node, [&](const std::string &name) { used.insert(name); });
}

SmallVector<const Origin *>
RecordedProgram::findTensors(const RecordedCall &call) const {
  SmallVector<const Origin *> tensors;
  for (StringRef value : call.values())
    if (const Origin *tensor = record.findArgument(value))
      tensors.push_back(tensor);
  return tensors;
}

MapVector<StringRef, SmallVector<int>> RecordedProgram::findCalls() const {
  MapVector<StringRef, SmallVector<int>> calls;
  for (auto [index, origin] : enumerate(origins))
    if (origin.call)
      calls[origin.call->result].push_back(index);
  return calls;
}

bool RecordedProgram::isGone(StringRef value) const {
  return !values.contains(value) && !record.findArgument(value) &&
         getKind(value) != CallKind::Part;
}

std::vector<std::pair<StringRef, StringRef>>
RecordedProgram::findMerged() const {
  std::vector<std::pair<StringRef, StringRef>> merged;
  // Parts of a result are no calls: two calls name one part differently.
  StringMap<StringRef> parts;
  for (auto [node, origin] : zip(graph.node(), origins)) {
    if (!origin.call)
      continue;
    const RecordedCall &call = *origin.call;
    for (auto [operand, input] : enumerate(node.input())) {
      std::optional<StringRef> own = findValue(call, node, operand);
      if (own && getKind(*own) == CallKind::Part && !values.contains(*own))
        if (StringRef part = parts.try_emplace(input, *own).first->second;
            part != *own)
          merged.push_back({input, *own});
      // `stack` expands each of its operands, and equal ones once.
      bool mayBeAny = !own && (!call.names(input) || call.op == "stack");
      for (StringRef value : call.values())
        if (isGone(value) && dropNumber(value) == dropNumber(input) &&
            (mayBeAny || own == value))
          merged.push_back({input, value});
    }
  }
  return merged;
}

const std::vector<std::string> *
RecordedProgram::findSteps(StringRef tensor) const {
  auto it = steps.find(tensor);
  return it == steps.end() ? nullptr : &it->second;
}

SmallVector<const Origin *>
RecordedProgram::findSources(StringRef tensor) const {
  SmallVector<const Origin *> sources;
  if (const std::vector<std::string> *names = findSteps(tensor))
    for (const std::string &name : *names)
      if (const Origin *source = record.find(name))
        sources.push_back(source);
  return sources;
}

std::optional<TensorData>
RecordedProgram::readFloats(const onnx::TensorProto *tensor) const {
  if (!isFloatTensor(tensor))
    return std::nullopt;
  Expected<TensorData> data = reader.read(*tensor);
  if (!data) {
    consumeError(data.takeError());
    return std::nullopt;
  }
  return data->hasData ? std::optional(std::move(*data)) : std::nullopt;
}

int64_t RecordedProgram::batch() const {
  if (graph.input_size() == 0)
    return 0;
  const auto &shape = graph.input(0).type().tensor_type().shape();
  return shape.dim_size() > 0 ? shape.dim(0).dim_value() : 0;
}

std::string RecordedProgram::makeCallName(StringRef call) {
  int64_t number = getNumber(call);
  std::string name;
  do
    name = makeResultName(dropNumber(call), ++number);
  while (hasName(name) || values.contains(name) || !named.insert(name).second);
  return name;
}

void nameByModule(onnx::NodeProto &node) {
  std::string path;
  std::string outer;
  for (const std::string &module : readModules(node)) {
    StringRef name = module;
    if (!outer.empty() && name.starts_with(outer) &&
        (name.size() == outer.size() || name[outer.size()] == '.'))
      name = name.drop_front(std::min(outer.size() + 1, name.size()));
    if (!name.empty())
      path += "/" + name.str();
    outer = module;
  }
  if (!path.empty() && !node.name().empty())
    node.set_name(path + "/" + node.name());
}

namespace {
using Names = StringMap<std::string>;

template <typename Strings>
void renameAll(Strings &strings, const Names &names) {
  for (std::string &string : strings)
    if (auto it = names.find(string); it != names.end())
      string = it->second;
}

/// In a graph with what it contains: no value has the name of an outer one.
void renameValues(onnx::GraphProto &graph, const Names &names) {
  for (onnx::NodeProto &node : *graph.mutable_node()) {
    renameAll(*node.mutable_input(), names);
    renameAll(*node.mutable_output(), names);
    renameInCall(node, names);
    for (onnx::AttributeProto &attribute : *node.mutable_attribute())
      if (attribute.has_g())
        renameValues(*attribute.mutable_g(), names);
  }
  auto renameEach = [&](auto &list) {
    for (auto &named : list)
      if (auto it = names.find(named.name()); it != names.end())
        named.set_name(it->second);
  };
  renameEach(*graph.mutable_initializer());
  renameEach(*graph.mutable_value_info());
  renameEach(*graph.mutable_output());
}
} // namespace

void renameResults(onnx::GraphProto &graph, const RecordedTensors &tensors) {
  StringSet<> computed;
  for (const onnx::ValueInfoProto &value : graph.value_info())
    if (tensors.find(value.name()) && !readSteps(value).empty())
      computed.insert(value.name());
  std::vector<std::string> clashes;
  for (const auto &tensor : graph.initializer())
    if (computed.contains(tensor.name()))
      clashes.push_back(tensor.name());
  for (const onnx::NodeProto &node : graph.node()) {
    auto isClash = [&](StringRef output) { return tensors.find(output); };
    // An Identity that is no call is a parameter that equals another.
    if (any_of(node.output(), isClash) &&
        (node.op_type() != "Identity" || readCall(node)))
      copy_if(node.output(), std::back_inserter(clashes), isClash);
  }
  if (clashes.empty())
    return;
  TensorReader reader("");
  RecordedProgram program(graph, tensors, reader);
  Names names;
  for (const std::string &clash : clashes)
    do
      names[clash] = program.makeCallName(clash);
    while (tensors.find(names[clash]));
  renameValues(graph, names);
}

} // namespace dtc::frontend
