//===- VerifyGraph.cpp - structural checks of an ONNX graph ---------------===//
//
// Checks that names are unique, and that operands exist and are computed before
// their use.
//
//===----------------------------------------------------------------------===//

#include "File/ModelFile.h"
#include "Support/Problem.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace dtc::frontend {

namespace {
struct GraphVerifier {
  const onnx::GraphProto &graph;
  /// Graph inputs and initializers.
  StringSet<> sources;
  /// Index of the node that computes a value.
  StringMap<int> producers;

  std::string describe(int index) const {
    return "node '" + nodeName(graph.node(index), index) + "'";
  }

  Error verifyNames() const;
  Error collectNames();
  Error verifyUses() const;
  Error verifyOrder() const;
  SmallVector<int> findCycle() const;
};

/// Checks that a name is UTF-8 text, since it becomes a JSON key (in
/// safetensors files) and part of messages.
static Error verifyText(StringRef what, StringRef name) {
  if (json::isUTF8(name) && !name.contains('\0'))
    return Error::success();
  std::string escaped;
  raw_string_ostream stream(escaped);
  printEscapedString(name, stream);
  return problem("the name of " + what + " is '" + escaped +
                     "', expected UTF-8 text",
                 "the file is damaged; export it again");
}

Error GraphVerifier::verifyNames() const {
  for (const auto &input : graph.input())
    if (Error error = verifyText("an input", input.name()))
      return error;
  for (const auto &output : graph.output())
    if (Error error = verifyText("an output", output.name()))
      return error;
  for (const auto &initializer : graph.initializer())
    if (Error error = verifyText("an initializer", initializer.name()))
      return error;
  for (const auto &node : graph.node()) {
    if (Error error = verifyText("a node", node.name()))
      return error;
    for (const std::string &output : node.output())
      if (Error error = verifyText("a value", output))
        return error;
  }
  return Error::success();
}

Error GraphVerifier::collectNames() {
  StringSet<> inputs;
  for (const auto &input : graph.input()) {
    if (!inputs.insert(input.name()).second)
      return problem("graph input '" + input.name() + "' appears twice");
    sources.insert(input.name());
  }
  // A name may be both an input and an initializer, its default value.
  StringSet<> initializers;
  for (const auto &initializer : graph.initializer()) {
    if (initializer.name().empty())
      return problem("an initializer has no name");
    if (!initializers.insert(initializer.name()).second)
      return problem("initializer '" + initializer.name() + "' appears twice");
    sources.insert(initializer.name());
  }
  if (graph.sparse_initializer_size())
    return problem("sparse initializers are not supported",
                   "store the weights densely");
  for (auto [index, node] : enumerate(graph.node())) {
    if (node.op_type().empty())
      return problem(describe(index) + " has no operator type");
    if (node.output().empty())
      return problem(describe(index) + " has no outputs",
                     "the model is not valid ONNX; export it again");
    for (const std::string &output : node.output()) {
      if (output.empty())
        continue;
      if (sources.contains(output))
        return problem(describe(index) + " overwrites '" + output +
                       "', which is a graph input or initializer");
      auto [it, isNew] = producers.try_emplace(output, index);
      if (!isNew)
        return problem("value '" + output + "' is computed twice: by " +
                       describe(it->second) + " and by " + describe(index));
    }
  }
  return Error::success();
}

Error GraphVerifier::verifyUses() const {
  auto exists = [&](const std::string &name) {
    return name.empty() || sources.contains(name) || producers.contains(name);
  };
  for (auto [index, node] : enumerate(graph.node()))
    for (const std::string &input : node.input())
      if (!exists(input))
        return problem(describe(index) + " uses '" + input +
                       "', which nothing defines");
  if (graph.output().empty())
    return problem("graph has no outputs");
  for (const auto &output : graph.output())
    if (output.name().empty() || !exists(output.name()))
      return problem("no node computes graph output '" + output.name() + "'");
  return Error::success();
}

/// Finds a cycle of nodes; empty if there is none. The depth-first search is
/// iterative, since deep networks would overflow the stack.
SmallVector<int> GraphVerifier::findCycle() const {
  enum State : char { New, Open, Done };
  SmallVector<State> states(graph.node_size(), New);
  struct Frame {
    int node;
    int nextInput = 0;
  };
  for (int root = 0; root < graph.node_size(); ++root) {
    if (states[root] != New)
      continue;
    SmallVector<Frame> path{{root}};
    states[root] = Open;
    while (!path.empty()) {
      Frame &frame = path.back();
      const onnx::NodeProto &node = graph.node(frame.node);
      if (frame.nextInput == node.input_size()) {
        states[frame.node] = Done;
        path.pop_back();
        continue;
      }
      auto producer = producers.find(node.input(frame.nextInput++));
      if (producer == producers.end())
        continue;
      int next = producer->second;
      if (states[next] == Open) {
        SmallVector<int> cycle;
        auto *start =
            find_if(path, [&](const Frame &f) { return f.node == next; });
        for (const Frame &f : make_range(start, path.end()))
          cycle.push_back(f.node);
        return cycle;
      }
      if (states[next] == New) {
        states[next] = Open;
        path.push_back({next});
      }
    }
  }
  return {};
}

Error GraphVerifier::verifyOrder() const {
  SmallVector<int> cycle = findCycle();
  if (!cycle.empty()) {
    // Each node of the path depends on the next one, so print it backwards.
    std::string text;
    for (int index : reverse(cycle))
      text += describe(index) + " -> ";
    return problem("graph has a cycle: " + text + describe(cycle.back()));
  }
  for (auto [index, node] : enumerate(graph.node()))
    for (const std::string &input : node.input()) {
      auto producer = producers.find(input);
      if (producer != producers.end() && producer->second >= int(index))
        return problem(describe(index) + " uses '" + input + "' before " +
                           describe(producer->second) + " computes it",
                       "ONNX wants nodes in topological order; sort them");
    }
  return Error::success();
}
} // namespace

std::string nodeName(const onnx::NodeProto &node, int index) {
  if (!node.name().empty())
    return node.name();
  return node.op_type() + "_" + std::to_string(index);
}

Error verifyGraph(const onnx::GraphProto &graph) {
  GraphVerifier verifier{graph, {}, {}};
  if (Error error = verifier.verifyNames())
    return error;
  if (Error error = verifier.collectNames())
    return error;
  if (Error error = verifier.verifyUses())
    return error;
  return verifier.verifyOrder();
}

} // namespace dtc::frontend
