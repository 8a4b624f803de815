//===- StopGradients.cpp - what a model detaches --------------------------===//
//
// See StopGradients.h.
//
//===----------------------------------------------------------------------===//

#include "StopGradients.h"
#include "FxRoles.h"
#include "NameList.h"
#include "Operators.h"

#include "llvm/ADT/MapVector.h"

using namespace llvm;

namespace dtc::frontend {

namespace {
class GradientStopper {
public:
  explicit GradientStopper(FxGraph &graph) : graph(graph) {}

  /// Of the nodes that one call became. False if no operand is known to be what
  /// the call detaches.
  bool stopCall(ArrayRef<int> nodes);

private:
  bool isDetached(StringRef value) const {
    return graph.isGone(value) && getStem(value) == "detach";
  }
  bool isDetached(int node, int operand) const;
  void stop(int node, int operand);

  FxGraph &graph;
  /// Of the call at hand: what its arguments name, and whether all that the
  /// graph lacks of it is detached.
  StringSet<> named;
  bool isOnlyDetached = true;
};
} // namespace

bool GradientStopper::isDetached(int index, int operand) const {
  const onnx::NodeProto &node = graph.node(index);
  if (std::optional<StringRef> value =
          findValue(*graph.origin(index).call, node, operand))
    return isDetached(*value);
  // An operand that the call does not name is the argument that is missing.
  return isOnlyDetached && !named.contains(node.input(operand));
}

void GradientStopper::stop(int index, int operand) {
  onnx::NodeProto &node = graph.node(index);
  std::string stopped =
      graph.applyBefore(index, "StopGradient", {node.input(operand)});
  graph.getLastBefore(index).set_domain(ownDomain.str());
  node.set_input(operand, stopped);
}

bool GradientStopper::stopCall(ArrayRef<int> nodes) {
  const FxCall &call = *graph.origin(nodes.front()).call;
  named.clear();
  isOnlyDetached = true;
  bool detaches = false;
  for (const auto &argument : call.arguments)
    for (const std::string &value : argument) {
      detaches |= isDetached(value);
      isOnlyDetached &= isDetached(value) || !graph.isGone(value);
      const Origin *tensor = graph.provenance.findArgument(value);
      named.insert(tensor ? tensor->name : value);
    }
  if (!detaches)
    return true;
  StringSet<> own;
  for (int index : nodes)
    own.insert(graph.node(index).output().begin(),
               graph.node(index).output().end());
  bool isFound = false;
  for (int index : nodes)
    for (int i = 0; i < graph.node(index).input_size(); ++i) {
      const std::string &input = graph.node(index).input(i);
      const onnx::TensorProto *tensor = graph.findTensor(input);
      bool isSetting = input.empty() || (tensor && !isFloatTensor(tensor));
      if (isSetting || own.contains(input) || !isDetached(index, i))
        continue;
      stop(index, i);
      isFound = true;
    }
  return isFound;
}

void stopGradients(FxGraph &graph, RestoredTensors &result) {
  MapVector<StringRef, SmallVector<int>> calls;
  for (int index = 0; index < graph.size(); ++index)
    if (const auto &call = graph.origin(index).call) {
      if (call->op == "detach" && graph.node(index).op_type() == "Identity") {
        graph.node(index).set_op_type("StopGradient");
        graph.node(index).set_domain(ownDomain.str());
      }
      calls[call->result].push_back(index);
    }
  GradientStopper stopper(graph);
  std::vector<std::string> unknown;
  for (auto &[name, nodes] : calls)
    if (!stopper.stopCall(nodes))
      unknown.push_back(graph.node(nodes.front()).name());
  if (!unknown.empty())
    result.warnings.push_back(
        "the model detaches what nodes read (" + listFirstNames(unknown) +
        "), and the file does not say which operand: gradients do not stop "
        "there as in PyTorch; export with optimize=False");
}

} // namespace dtc::frontend
