//===- StopGradients.cpp - what a model detaches --------------------------===//
//
// See StopGradients.h.
//
//===----------------------------------------------------------------------===//

#include "Exporters/Dynamo/StopGradients.h"
#include "Exporters/Dynamo/FxRoles.h"
#include "Support/NameList.h"
#include "Support/TensorData.h"

#include "llvm/ADT/STLExtras.h"

#include <set>

using namespace llvm;

namespace dtc::frontend {

static void makeStopGradient(onnx::NodeProto &node) {
  node.set_domain(stopGradientDomain.str());
  node.set_op_type(stopGradientOp.str());
}

namespace {
class GradientStopper {
public:
  GradientStopper(FxGraph &graph, const RestoredTensors &restored)
      : graph(graph), restored(restored) {}

  /// Stops gradients at the nodes that one call became. False if it cannot be
  /// told which operands are what the call detaches.
  bool stopCall(ArrayRef<int> nodes);

private:
  bool isDetached(StringRef value) const {
    return graph.isGone(value) && getStem(value) == "detach";
  }
  std::optional<StringRef> findOwnValue(int node, int operand) const;
  bool isDetached(int node, int operand) const;
  bool isConstant(StringRef input) const;
  void stop(int node, int operand);

  FxGraph &graph;
  const RestoredTensors &restored;
  /// What the arguments of the call at hand name, and whether all that the
  /// graph lacks of it is detached.
  StringSet<> named;
  bool isOnlyDetached = true;
};
} // namespace

/// The value that the call names for this operand and no other.
std::optional<StringRef> GradientStopper::findOwnValue(int index,
                                                       int operand) const {
  const onnx::NodeProto &node = graph.node(index);
  const FxCall &call = *graph.origin(index).call;
  std::optional<unsigned> argument = findArgument(call, node, operand);
  for (int other = 0; argument && other < node.input_size(); ++other)
    if (other != operand && findArgument(call, node, other) == argument)
      return std::nullopt;
  return findValue(call, node, operand);
}

bool GradientStopper::isDetached(int index, int operand) const {
  if (std::optional<StringRef> value = findOwnValue(index, operand))
    return isDetached(*value);
  // An operand that the call does not name is the argument that is missing.
  return isOnlyDetached && !named.contains(graph.node(index).input(operand));
}

/// Whether an operand is a number or setting, and no parameter.
bool GradientStopper::isConstant(StringRef input) const {
  return input.empty() ||
         (graph.findTensor(input) && !graph.provenance.find(input) &&
          !restored.computed.contains(input));
}

void GradientStopper::stop(int index, int operand) {
  onnx::NodeProto &node = graph.node(index);
  std::string stopped =
      graph.applyBefore(index, stopGradientOp, {node.input(operand)});
  makeStopGradient(graph.getLastBefore(index));
  node.set_input(operand, stopped);
}

bool GradientStopper::stopCall(ArrayRef<int> nodes) {
  const FxCall &call = *graph.origin(nodes.front()).call;
  named.clear();
  isOnlyDetached = true;
  bool detaches = false;
  for (const auto &argument : call.arguments)
    for (const std::string &value : argument) {
      const Origin *tensor = graph.provenance.findArgument(value);
      detaches |= isDetached(value);
      isOnlyDetached &= isDetached(value) || tensor || graph.hasValue(value);
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
      if (own.contains(input) || !isDetached(index, i))
        continue;
      if (!isConstant(input)) {
        stop(index, i);
        isFound = true;
      } else if (findOwnValue(index, i) &&
                 isFloatTensor(graph.findTensor(input))) {
        return false; // a parameter's value when it was exported
      }
    }
  return isFound;
}

/// The calls of `detach` that no call names: those that are counted are up to
/// the last one that is named.
static std::vector<std::string> findLostDetaches(const FxGraph &graph) {
  std::set<int64_t> named;
  auto add = [&](StringRef value) {
    if (getStem(value) == "detach")
      named.insert(getNumber(value));
  };
  for (const auto &[result, nodes] : graph.findCalls()) {
    add(result);
    for (const auto &argument : graph.origin(nodes.front()).call->arguments)
      for_each(argument, add);
  }
  std::vector<std::string> lost;
  for (int64_t i = 0; !named.empty() && i < *named.rbegin(); ++i)
    if (!named.count(i))
      lost.push_back(makeCallName("detach", i));
  return lost;
}

/// What a call detached is lost if the call itself was merged with an equal
/// one.
static void warnOfMergedCalls(const FxGraph &graph, RestoredTensors &result) {
  std::vector<std::string> lost = findLostDetaches(graph), merged;
  for (int index = 0; index < graph.size(); ++index)
    for (int i = 0; graph.origin(index).call && !lost.empty() &&
                    i < graph.node(index).input_size();
         ++i)
      if (std::string gone = graph.findMerged(index, i);
          !gone.empty() && !is_contained(merged, gone))
        merged.push_back(gone);
  if (!merged.empty())
    result.warnings.push_back(
        "the exporter merged calls that differ at most by what they detach (" +
        listFirstNames(merged) + "), and the file does not say what read " +
        listFirstNames(lost) +
        ": gradients may pass where PyTorch stops them; export with "
        "optimize=False");
}

void stopGradients(FxGraph &graph, RestoredTensors &result) {
  GradientStopper stopper(graph, result);
  std::vector<std::string> unknown;
  for (auto &[name, nodes] : graph.findCalls()) {
    for (int index : nodes)
      if (graph.origin(index).call->op == "detach" &&
          graph.node(index).op_type() == "Identity")
        makeStopGradient(graph.node(index));
    if (!stopper.stopCall(nodes))
      unknown.push_back(graph.node(nodes.front()).name());
  }
  if (!unknown.empty())
    result.warnings.push_back(
        "the model detaches what nodes read (" + listFirstNames(unknown) +
        "), and the file does not say which operand: gradients do not stop "
        "there as in PyTorch; export with optimize=False");
  warnOfMergedCalls(graph, result);
}

} // namespace dtc::frontend
