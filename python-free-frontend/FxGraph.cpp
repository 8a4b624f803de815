//===- FxGraph.cpp - a graph with the calls it comes from -----------------===//
//
// See FxGraph.h.
//
//===----------------------------------------------------------------------===//

#include "FxGraph.h"
#include "FxRoles.h"
#include "InlineNodes.h"
#include "TensorData.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace dtc::frontend {

bool isFloatTensor(const onnx::TensorProto *tensor) {
  std::optional<DType> dtype =
      tensor ? toDType(tensor->data_type()) : std::nullopt;
  return dtype && isFloat(*dtype);
}

SmallVector<int64_t> dimsOf(const onnx::TensorProto &tensor) {
  return SmallVector<int64_t>(tensor.dims().begin(), tensor.dims().end());
}

std::pair<StringRef, StringRef> splitName(StringRef name) {
  auto [owner, leaf] = name.rsplit('.');
  return leaf.empty() ? std::pair(StringRef(), owner) : std::pair(owner, leaf);
}

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

/// Names that nodes read, and outputs.
static void addReads(const onnx::GraphProto &graph, StringSet<> &reads) {
  for (const auto &node : graph.node())
    forEachRead(node, [&](const std::string &name) { reads.insert(name); });
  for (const auto &output : graph.output())
    reads.insert(output.name());
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
    : provenance(provenance), graph(graph) {
  StringSet<> reads;
  addReads(graph, reads);
  for (onnx::TensorProto &tensor : *graph.mutable_initializer()) {
    tensors[tensor.name()] = &tensor;
    names.insert(tensor.name());
    if (reads.contains(tensor.name()))
      continue;
    unread.insert(tensor.name());
    used.insert(tensor.name());
  }
  for (const auto &input : graph.input()) {
    names.insert(input.name());
    values.insert(input.name());
  }
  for (onnx::NodeProto &node : *graph.mutable_node()) {
    for (const std::string &output : node.output()) {
      names.insert(output);
      values.insert(output);
    }
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

StringSet<> FxGraph::findReads() const {
  StringSet<> reads;
  addReads(graph, reads);
  return reads;
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

const onnx::TensorProto *FxGraph::findTensor(StringRef name) const {
  auto it = tensors.find(name);
  return it == tensors.end() ? nullptr : it->second;
}

void FxGraph::addTensor(const onnx::TensorProto &like, StringRef name,
                        ArrayRef<int64_t> dims) {
  onnx::TensorProto &tensor = *graph.add_initializer();
  tensor = like;
  tensor.set_name(name.str());
  tensor.mutable_dims()->Assign(dims.begin(), dims.end());
  tensors[name] = &tensor;
  names.insert(name);
}

void FxGraph::addTensor(int32_t type, StringRef bytes, StringRef name,
                        ArrayRef<int64_t> dims) {
  onnx::TensorProto tensor;
  // The bytes are those of TensorData, which has 16 bits as f32.
  tensor.set_data_type(isFloat16(type) ? onnx::TensorProto::FLOAT : type);
  tensor.set_raw_data(bytes.str());
  addTensor(tensor, name, dims);
}

std::string FxGraph::makeName(const Twine &name) {
  std::string wanted = name.str(), unique = wanted;
  while (!names.insert(unique).second)
    unique = wanted + "_" + std::to_string(++copies[wanted]);
  return unique;
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

std::string FxGraph::addIntegers(const Twine &name, ArrayRef<int64_t> integers,
                                 ArrayRef<int64_t> dims) {
  std::string unique = makeName(name);
  addTensor(onnx::TensorProto::INT64,
            StringRef(reinterpret_cast<const char *>(integers.data()),
                      integers.size() * sizeof(int64_t)),
            unique, dims);
  return unique;
}

std::string FxGraph::applyBefore(int index, StringRef op,
                                 ArrayRef<std::string> operands) {
  onnx::NodeProto &added = before[index].emplace_back();
  added.set_op_type(op.str());
  added.set_name(node(index).name());
  for (const std::string &operand : operands)
    added.add_input(operand);
  added.add_output(makeName(operands.front() + "/" + op.lower()));
  return added.output(0);
}

void FxGraph::insertNodes() {
  google::protobuf::RepeatedPtrField<onnx::NodeProto> nodes;
  auto append = [&](std::vector<onnx::NodeProto> &list) {
    for (onnx::NodeProto &node : list)
      nodes.Add()->Swap(&node);
  };
  for (auto [index, node] : enumerate(*graph.mutable_node())) {
    append(before[index]);
    nodes.Add()->Swap(&node);
    append(after[index]);
  }
  graph.mutable_node()->Swap(&nodes);
  StringSet<> needed = unread;
  addReads(graph, needed);
  google::protobuf::RepeatedPtrField<onnx::TensorProto> kept;
  for (onnx::TensorProto &tensor : *graph.mutable_initializer())
    if (needed.contains(tensor.name()))
      kept.Add()->Swap(&tensor);
  graph.mutable_initializer()->Swap(&kept);
  origins.clear();
  tensors.clear();
}

void FxGraph::renameTensor(StringRef from, StringRef to) {
  for (onnx::TensorProto &tensor : *graph.mutable_initializer())
    if (tensor.name() == from)
      tensor.set_name(to.str());
  if (auto it = tensors.find(from); it != tensors.end())
    tensors[to] = it->second;
  for (onnx::NodeProto &node : *graph.mutable_node())
    std::replace(node.mutable_input()->begin(), node.mutable_input()->end(),
                 from.str(), to.str());
}

} // namespace dtc::frontend
