//===- Recorded.h - graphs with dynamo's records ----------------*- C++ -*-===//

#ifndef DTC_UNITTESTS_FRONTEND_RECORDED_H
#define DTC_UNITTESTS_FRONTEND_RECORDED_H

#include "Exporters/Dynamo/RestoreProgram.h"

#include "llvm/ADT/STLExtras.h"
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace dtc::frontend {

using Names = std::vector<std::string>;

/// Builds a graph with the metadata of the dynamo exporter.
class Recorded {
public:
  /// The tensors of the state dict. In calls their names are "p_" or "b_" +
  /// name, with '_' for '.'.
  explicit Recorded(const std::vector<std::string> &parameters,
                    const std::vector<std::string> &buffers = {}) {
    for (const std::string &name : parameters)
      signature += "p_" + flatten(name) + ": PARAMETER target='" + name + "'\n";
    for (const std::string &name : buffers)
      signature += "b_" + flatten(name) + ": BUFFER target='" + name +
                   "' persistent=True\n";
    signature += "x: USER_INPUT\n";
    graph.add_input()->set_name("x");
    graph.add_output()->set_name("y");
  }

  void tensor(llvm::StringRef name, std::vector<int64_t> dims,
              std::vector<float> values) {
    onnx::TensorProto &tensor = *graph.add_initializer();
    tensor.set_name(name.str());
    tensor.set_data_type(onnx::TensorProto::FLOAT);
    tensor.mutable_dims()->Assign(dims.begin(), dims.end());
    tensor.mutable_float_data()->Assign(values.begin(), values.end());
  }

  /// Adds a node with the call of torch.export that it comes from, such as
  /// "layer_norm(%x, [2], %p_w)", and the name `result` of the call's result.
  /// Named arguments come last: "add(%x, %y; alpha: 2)".
  void node(llvm::StringRef op, const std::vector<std::string> &inputs,
            llvm::StringRef output, llvm::StringRef result = "",
            llvm::StringRef call = "", llvm::StringRef module = "",
            llvm::StringRef source = "") {
    onnx::NodeProto &node = *graph.add_node();
    node.set_op_type(op.str());
    node.set_name(("node_" + output).str());
    for (const std::string &input : inputs)
      node.add_input(input);
    node.add_output(output.str());
    auto [name, inBrackets] = call.split('(');
    auto [arguments, keywords] =
        inBrackets.drop_back(!call.empty()).split("; ");
    if (!call.empty())
      record(node, "pkg.torch.onnx.fx_node",
             ("%" + result +
              " : [num_users=1] = call_function[target=torch.ops.aten." + name +
              ".default](args = (" + arguments + ",), kwargs = {" + keywords +
              "})")
                 .str());
    record(node, "pkg.torch.onnx.name_scopes",
           ("['', '" + module + "', 'call']").str());
    record(node, "pkg.torch.onnx.stack_trace",
           ("File \"model.py\", line 1, in forward\n    " + source).str());
  }

  /// Adds another output to the last node.
  void secondOutput(llvm::StringRef name) {
    graph.mutable_node()->rbegin()->add_output(name.str());
  }

  /// Records that the exporter computed a tensor from others: "'p', 'val_0'".
  void sources(llvm::StringRef tensor, llvm::StringRef list) {
    onnx::ValueInfoProto &value = *graph.add_value_info();
    value.set_name(tensor.str());
    onnx::StringStringEntryProto entry;
    entry.set_key("pkg.onnxscript.optimizer.folded_from");
    entry.set_value(("[" + list + "]").str());
    value.mutable_unknown_fields()->AddLengthDelimited(
        4, entry.SerializeAsString());
  }

  /// Adds an integer attribute to the last node.
  void attribute(llvm::StringRef name, int64_t value) {
    onnx::AttributeProto &attribute =
        *graph.mutable_node()->rbegin()->add_attribute();
    attribute.set_name(name.str());
    attribute.set_type(onnx::AttributeProto::INT);
    attribute.set_i(value);
  }

  RestoredTensors restore() {
    onnx::ModelProto model;
    *model.mutable_graph() = graph;
    onnx::StringStringEntryProto entry;
    entry.set_key("pkg.torch.export.ExportedProgram.graph_signature");
    entry.set_value(signature);
    model.mutable_graph()->mutable_unknown_fields()->AddLengthDelimited(
        16, entry.SerializeAsString());
    auto tensors = llvm::cantFail(RecordedTensors::read(model));
    TensorReader reader("");
    RestoredTensors result =
        restoreProgram(*model.mutable_graph(), tensors, reader);
    graph = model.graph();
    return result;
  }

  /// The first output of the node that computes a value.
  std::string producer(llvm::StringRef value) const {
    const onnx::NodeProto *node = nodeOf(value);
    return node ? node->output(0) : "";
  }
  /// The operands of the node that computes a value.
  std::vector<std::string> inputs(llvm::StringRef value) const {
    const onnx::NodeProto *node = nodeOf(value);
    if (!node)
      return {};
    return {node->input().begin(), node->input().end()};
  }
  std::string op(llvm::StringRef value) const {
    const onnx::NodeProto *node = nodeOf(value);
    return node ? node->op_type() : "";
  }
  const onnx::TensorProto *find(llvm::StringRef name) const {
    for (const onnx::TensorProto &tensor : graph.initializer())
      if (tensor.name() == name)
        return &tensor;
    return nullptr;
  }

  const onnx::NodeProto *nodeOf(llvm::StringRef value) const {
    for (const onnx::NodeProto &node : graph.node())
      if (llvm::is_contained(node.output(), value))
        return &node;
    return nullptr;
  }

private:
  static std::string flatten(std::string name) {
    std::replace(name.begin(), name.end(), '.', '_');
    return name;
  }
  static void record(onnx::NodeProto &node, llvm::StringRef key,
                     llvm::StringRef value) {
    onnx::StringStringEntryProto entry;
    entry.set_key(key.str());
    entry.set_value(value.str());
    node.mutable_unknown_fields()->AddLengthDelimited(
        9, entry.SerializeAsString());
  }

  onnx::GraphProto graph;
  std::string signature;
};

} // namespace dtc::frontend

#endif // DTC_UNITTESTS_FRONTEND_RECORDED_H
