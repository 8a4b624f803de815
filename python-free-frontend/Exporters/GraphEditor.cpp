//===- GraphEditor.cpp - edits a graph and keeps its order ----------------===//
//
// See GraphEditor.h.
//
//===----------------------------------------------------------------------===//

#include "Exporters/GraphEditor.h"
#include "File/InlineNodes.h"
#include "Support/TensorData.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace dtc::frontend {

/// Adds the names that nodes read, and the names of outputs.
static void addReads(const onnx::GraphProto &graph, StringSet<> &reads) {
  for (const auto &node : graph.node())
    forEachRead(node, [&](const std::string &name) { reads.insert(name); });
  for (const auto &output : graph.output())
    reads.insert(output.name());
}

GraphEditor::GraphEditor(onnx::GraphProto &graph) : graph(graph) {
  readGraph();
}

void GraphEditor::readGraph() {
  tensors.clear();
  names.clear();
  unread.clear();
  copies.clear();
  before.clear();
  after.clear();
  StringSet<> reads = findReads();
  for (onnx::TensorProto &tensor : *graph.mutable_initializer()) {
    tensors[tensor.name()] = &tensor;
    names.insert(tensor.name());
    if (!reads.contains(tensor.name()))
      unread.insert(tensor.name());
  }
  for (const auto &input : graph.input())
    names.insert(input.name());
  for (const onnx::NodeProto &node : graph.node())
    for (const std::string &output : node.output())
      names.insert(output);
}

StringSet<> GraphEditor::findReads() const {
  StringSet<> reads;
  addReads(graph, reads);
  return reads;
}

const onnx::TensorProto *GraphEditor::findTensor(StringRef name) const {
  auto it = tensors.find(name);
  return it == tensors.end() ? nullptr : it->second;
}

void GraphEditor::addTensor(const onnx::TensorProto &like, StringRef name,
                            ArrayRef<int64_t> dims) {
  onnx::TensorProto &tensor = *graph.add_initializer();
  tensor = like;
  tensor.set_name(name.str());
  tensor.mutable_dims()->Assign(dims.begin(), dims.end());
  tensors[name] = &tensor;
  names.insert(name);
}

void GraphEditor::addTensor(int32_t type, StringRef bytes, StringRef name,
                            ArrayRef<int64_t> dims) {
  onnx::TensorProto tensor;
  // The bytes come from TensorData, which stores 16-bit floats as f32.
  tensor.set_data_type(isFloat16(type) ? onnx::TensorProto::FLOAT : type);
  tensor.set_raw_data(bytes.str());
  addTensor(tensor, name, dims);
}

std::string GraphEditor::makeName(const Twine &name) {
  std::string wanted = name.str(), unique = wanted;
  while (!names.insert(unique).second)
    unique = wanted + "_" + std::to_string(++copies[wanted]);
  return unique;
}

std::string GraphEditor::addIntegers(const Twine &name,
                                     ArrayRef<int64_t> integers,
                                     ArrayRef<int64_t> dims) {
  std::string unique = makeName(name);
  addTensor(onnx::TensorProto::INT64,
            StringRef(reinterpret_cast<const char *>(integers.data()),
                      integers.size() * sizeof(int64_t)),
            unique, dims);
  return unique;
}

std::string GraphEditor::addNumber(const Twine &name,
                                   const onnx::TensorProto &like,
                                   double number) {
  std::string unique = makeName(name);
  float single = float(number);
  StringRef bytes(reinterpret_cast<const char *>(&single), sizeof single);
  if (like.data_type() == onnx::TensorProto::DOUBLE)
    bytes = StringRef(reinterpret_cast<const char *>(&number), sizeof number);
  addTensor(like.data_type(), bytes, unique, {});
  return unique;
}

std::string GraphEditor::applyBefore(int index, StringRef op,
                                     ArrayRef<std::string> operands) {
  onnx::NodeProto &added = before[index].emplace_back();
  added.set_op_type(op.str());
  added.set_name(node(index).name());
  for (const std::string &operand : operands)
    added.add_input(operand);
  added.add_output(makeName(operands.front() + "/" + op.lower()));
  return added.output(0);
}

std::string GraphEditor::reshapeBefore(int index, const std::string &value,
                                       ArrayRef<int64_t> dims) {
  std::string shape =
      addIntegers(value + "/shape", dims, {int64_t(dims.size())});
  return applyBefore(index, "Reshape", {value, shape});
}

std::vector<int> GraphEditor::insertNodes() {
  google::protobuf::RepeatedPtrField<onnx::NodeProto> nodes;
  std::vector<int> indices;
  auto append = [&](onnx::NodeProto &node, int index) {
    nodes.Add()->Swap(&node);
    indices.push_back(index);
  };
  for (auto [index, node] : enumerate(*graph.mutable_node())) {
    for (onnx::NodeProto &added : before[index])
      append(added, -1);
    append(node, index);
    for (onnx::NodeProto &added : after[index])
      append(added, -1);
  }
  graph.mutable_node()->Swap(&nodes);
  StringSet<> needed = unread;
  addReads(graph, needed);
  google::protobuf::RepeatedPtrField<onnx::TensorProto> kept;
  for (onnx::TensorProto &tensor : *graph.mutable_initializer())
    if (needed.contains(tensor.name()))
      kept.Add()->Swap(&tensor);
  graph.mutable_initializer()->Swap(&kept);
  readGraph();
  return indices;
}

void GraphEditor::renameTensor(StringRef from, StringRef to) {
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
