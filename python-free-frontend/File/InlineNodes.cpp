//===- InlineNodes.cpp - inlines functions and inner graphs ---------------===//
//
// See InlineNodes.h.
//
//===----------------------------------------------------------------------===//

#include "File/InlineNodes.h"
#include "File/FunctionCalls.h"
#include "File/ModelFile.h"
#include "File/Nodes.h"
#include "File/StopGradientOp.h"
#include "Support/Problem.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace dtc::frontend {

namespace {
using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

/// Names that a graph defines itself.
std::vector<std::string> getOwnNames(const onnx::GraphProto &graph) {
  std::vector<std::string> names;
  for (const onnx::ValueInfoProto &input : graph.input())
    names.push_back(input.name());
  for (const onnx::TensorProto &tensor : graph.initializer())
    names.push_back(tensor.name());
  for (const onnx::NodeProto &node : graph.node())
    append_range(names, node.output());
  return names;
}

/// Gives the nodes of an inner scope names that the outer scope does not use.
class Renamer {
public:
  explicit Renamer(StringRef prefix) : prefix(prefix.str()) {}

  void set(StringRef inner, StringRef outer) { names[inner] = outer.str(); }
  /// Adds a name that the scope defines.
  void define(const std::string &name) {
    if (!name.empty())
      names.try_emplace(name, prefix + "/" + name);
  }
  std::string get(const std::string &name) const {
    auto it = names.find(name);
    return it == names.end() ? name : it->second;
  }
  void rename(onnx::NodeProto &node) const {
    for (std::string &name : *node.mutable_input())
      name = get(name);
    for (std::string &name : *node.mutable_output())
      name = get(name);
    if (!node.name().empty())
      node.set_name(prefix + "/" + node.name());
    for (onnx::AttributeProto &attribute : *node.mutable_attribute())
      if (attribute.has_g())
        renameReads(*attribute.mutable_g());
  }

private:
  /// Renames the reads of an inner graph, except of names that it defines.
  void renameReads(onnx::GraphProto &graph) const {
    Renamer inner = *this;
    for (const std::string &name : getOwnNames(graph))
      inner.names.erase(name);
    for (onnx::NodeProto &node : *graph.mutable_node()) {
      for (std::string &name : *node.mutable_input())
        name = inner.get(name);
      for (onnx::AttributeProto &attribute : *node.mutable_attribute())
        if (attribute.has_g())
          inner.renameReads(*attribute.mutable_g());
    }
    for (onnx::ValueInfoProto &output : *graph.mutable_output())
      output.set_name(inner.get(output.name()));
  }

  std::string prefix;
  StringMap<std::string> names;
};

class FunctionInliner {
public:
  explicit FunctionInliner(onnx::ModelProto &model);
  Error run();

private:
  Error inlineNodes(Nodes &nodes, int depth);
  Expected<Nodes> makeBody(const onnx::NodeProto &call);
  Error checkOpset(const onnx::FunctionProto &function) const;

  onnx::ModelProto &model;
  FunctionTable functions;
  int64_t opset = 0;
  /// Number of calls so far, to give each call its own names.
  int64_t count = 0;
};
} // namespace

FunctionInliner::FunctionInliner(onnx::ModelProto &model) : model(model) {
  // Files define StopGradient as a function for programs that lack the
  // operator.
  for (const onnx::FunctionProto &function : model.functions())
    if (!isStopGradient(function.domain(), function.name()))
      functions[{function.domain(), function.name()}] = &function;
  for (const auto &import : model.opset_import())
    if (import.domain().empty() || import.domain() == "ai.onnx")
      opset = import.version();
}

/// The importer uses the rules of one opset, that of the model. From opset 13
/// on, operands and attributes tell all differences; for softmax the opset
/// decides.
Error FunctionInliner::checkOpset(const onnx::FunctionProto &function) const {
  for (const auto &import : function.opset_import())
    if ((import.domain().empty() || import.domain() == "ai.onnx") &&
        (import.version() < 13) != (opset < 13))
      return problem("function '" + function.name() + "' uses opset " +
                         Twine(import.version()) + ", the model uses opset " +
                         Twine(opset),
                     "inline its functions with onnx.inliner");
  return Error::success();
}

/// Sets attributes that refer to the call's attributes, or to their defaults.
static void setAttributes(onnx::NodeProto &node, const onnx::NodeProto &call) {
  google::protobuf::RepeatedPtrField<onnx::AttributeProto> attributes;
  attributes.Swap(node.mutable_attribute());
  for (onnx::AttributeProto &attribute : attributes) {
    if (attribute.ref_attr_name().empty()) {
      if (attribute.has_g())
        for (onnx::NodeProto &inner : *attribute.mutable_g()->mutable_node())
          setAttributes(inner, call);
      *node.add_attribute() = std::move(attribute);
      continue;
    }
    for (const onnx::AttributeProto &given : call.attribute())
      if (given.name() == attribute.ref_attr_name()) {
        onnx::AttributeProto &own = *node.add_attribute();
        own = given;
        own.set_name(attribute.name());
      }
  }
}

/// Returns the nodes that replace a call. Their names are unique.
Expected<Nodes> FunctionInliner::makeBody(const onnx::NodeProto &call) {
  // Names grow with nested calls. A longer name would not help to find the
  // module.
  constexpr size_t longest = 1024;
  const onnx::FunctionProto &function =
      *functions.at({call.domain(), call.op_type()});
  if (Error error = checkOpset(function))
    return std::move(error);
  std::string prefix = call.name().empty() || call.name().size() > longest
                           ? call.op_type() + "_" + std::to_string(count)
                           : call.name();
  // Several calls may have the same name.
  Renamer renamer(prefix + "#" + std::to_string(count++));
  for (auto [i, name] : enumerate(function.input()))
    renamer.set(name, int(i) < call.input_size() ? call.input(i) : "");
  for (auto [i, name] : enumerate(function.output()))
    if (int(i) < call.output_size() && !call.output(i).empty())
      renamer.set(name, call.output(i));
  for (const onnx::NodeProto &node : function.node())
    for (const std::string &name : node.output())
      renamer.define(name);

  Nodes body;
  for (const onnx::NodeProto &inner : function.node()) {
    onnx::NodeProto &node = *body.Add();
    node = inner;
    renamer.rename(node);
    setAttributes(node, call);
  }
  return body;
}

Error FunctionInliner::inlineNodes(Nodes &nodes, int depth) {
  constexpr int deepest = 64;
  if (depth > deepest)
    return problem("nests more than " + Twine(deepest) +
                       " inner graphs around calls of functions",
                   "export the model with fewer conditions and loops");
  Nodes result;
  std::vector<onnx::NodeProto> pending; // in reverse order
  auto push = [&](Nodes &next) {
    for (onnx::NodeProto &node : reverse(next))
      pending.push_back(std::move(node));
  };
  push(nodes);
  while (!pending.empty()) {
    onnx::NodeProto node = std::move(pending.back());
    pending.pop_back();
    if (functions.count({node.domain(), node.op_type()})) {
      Expected<Nodes> body = makeBody(node);
      if (!body)
        return body.takeError();
      push(*body);
      continue;
    }
    for (onnx::AttributeProto &attribute : *node.mutable_attribute())
      if (attribute.has_g())
        if (Error error =
                inlineNodes(*attribute.mutable_g()->mutable_node(), depth + 1))
          return error;
    result.Add(std::move(node));
  }
  nodes.Swap(&result);
  return Error::success();
}

Error FunctionInliner::run() {
  if (functions.empty())
    return Error::success();
  if (Error error = verifyFunctionCalls(model.graph(), functions))
    return error;
  return inlineNodes(*model.mutable_graph()->mutable_node(), 0);
}

Error inlineFunctions(onnx::ModelProto &model) {
  return FunctionInliner(model).run();
}

InlinedGraph inlineGraph(const onnx::GraphProto &graph,
                         ArrayRef<std::string> inputs, StringRef prefix) {
  Renamer renamer(prefix);
  for (auto [input, name] : zip(graph.input(), inputs))
    renamer.set(input.name(), name);
  for (const std::string &name : getOwnNames(graph))
    renamer.define(name);
  InlinedGraph result;
  for (const onnx::TensorProto &tensor : graph.initializer()) {
    onnx::NodeProto &constant = result.nodes.emplace_back();
    constant.set_op_type("Constant");
    constant.add_output(renamer.get(tensor.name()));
    *addAttribute(constant, "value", onnx::AttributeProto::TENSOR).mutable_t() =
        tensor;
  }
  for (const onnx::NodeProto &inner : graph.node())
    renamer.rename(result.nodes.emplace_back(inner));
  for (const onnx::ValueInfoProto &output : graph.output())
    result.outputs.push_back(renamer.get(output.name()));
  return result;
}

std::vector<onnx::NodeProto> inlineBranch(const onnx::NodeProto &node,
                                          const onnx::GraphProto &branch,
                                          StringRef prefix) {
  InlinedGraph inlined = inlineGraph(branch, {}, prefix);
  for (auto [from, to] : zip(inlined.outputs, node.output()))
    inlined.nodes.push_back(makeUnary("Identity", from, to));
  return inlined.nodes;
}

void forEachRead(const onnx::NodeProto &node,
                 function_ref<void(const std::string &)> callback) {
  for (const std::string &name : node.input())
    if (!name.empty())
      callback(name);
  forEachCapture(node, callback);
}

void forEachCapture(const onnx::NodeProto &node,
                    function_ref<void(const std::string &)> callback) {
  for (const onnx::AttributeProto &attribute : node.attribute()) {
    if (!attribute.has_g())
      continue;
    StringSet<> own;
    for (const onnx::ValueInfoProto &input : attribute.g().input())
      own.insert(input.name());
    for (const onnx::TensorProto &tensor : attribute.g().initializer())
      own.insert(tensor.name());
    for (const onnx::NodeProto &inner : attribute.g().node()) {
      forEachRead(inner, [&](const std::string &name) {
        if (!own.contains(name))
          callback(name);
      });
      for (const std::string &name : inner.output())
        own.insert(name);
    }
    for (const onnx::ValueInfoProto &output : attribute.g().output())
      if (!own.contains(output.name()))
        callback(output.name());
  }
}

StringSet<> findLive(const onnx::GraphProto &graph) {
  StringSet<> live;
  for (const auto &output : graph.output())
    live.insert(output.name());
  for (const auto &node : reverse(graph.node()))
    if (any_of(node.output(), [&](const std::string &output) {
          return live.contains(output);
        }))
      forEachRead(node, [&](const std::string &name) { live.insert(name); });
  return live;
}

} // namespace dtc::frontend
