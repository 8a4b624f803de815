//===- StopGradients.cpp - what a model detaches --------------------------===//
//
// PyTorch's `detach` is no operator of ONNX. With its optimizer off, dynamo
// writes an Identity for it; with it on, only the calls name its result:
//
//   node:  Mul(tanh, tanh), of %mul = mul(args = (%detach, %tanh))
//   here:  Mul(dtc.StopGradient(tanh), tanh)
//
//===----------------------------------------------------------------------===//

#include "Exporters/Dynamo/CallTable.h"
#include "Exporters/Dynamo/Rules.h"
#include "File/StopGradientOp.h"
#include "Support/NameList.h"

#include "llvm/ADT/STLExtras.h"

#include <set>

using namespace llvm;

namespace dtc::frontend {

static void makeStopGradient(onnx::NodeProto &node) {
  node.set_domain(stopGradientDomain.str());
  node.set_op_type(stopGradientOp.str());
}

namespace {
/// Finds which operands of a call are detached.
class DetachExplainer {
public:
  DetachExplainer(const RecordedProgram &program, const Findings &findings,
                  ArrayRef<int> nodes)
      : program(program), findings(findings), nodes(nodes),
        call(*program.origin(nodes.front()).call) {}

  /// Nodes and operands; nothing if it cannot be told which they are.
  std::optional<SmallVector<std::pair<int, int>>> run();

private:
  bool isDetached(StringRef value) const {
    return program.isGone(value) && dropNumber(value) == "detach";
  }
  std::optional<StringRef> findOwnValue(int node, int operand) const;
  bool isDetached(int node, int operand) const;
  bool isConstant(StringRef input) const;

  const RecordedProgram &program;
  const Findings &findings;
  ArrayRef<int> nodes;
  const RecordedCall &call;
  /// Names in the arguments, and whether all of them that the graph lacks are
  /// detached.
  StringSet<> named;
  bool isOnlyDetached = true;
};
} // namespace

/// The value that the call names for this operand and no other.
std::optional<StringRef> DetachExplainer::findOwnValue(int index,
                                                       int operand) const {
  const onnx::NodeProto &node = program.node(index);
  std::optional<unsigned> argument = findArgument(call, node, operand);
  for (int other = 0; argument && other < node.input_size(); ++other)
    if (other != operand && findArgument(call, node, other) == argument)
      return std::nullopt;
  return findValue(call, node, operand);
}

bool DetachExplainer::isDetached(int index, int operand) const {
  if (std::optional<StringRef> value = findOwnValue(index, operand))
    return isDetached(*value);
  // An operand that the call does not name is the argument that is missing.
  return isOnlyDetached && !named.contains(program.node(index).input(operand));
}

/// Whether an operand is a number or setting, and no parameter.
bool DetachExplainer::isConstant(StringRef input) const {
  return input.empty() ||
         (program.findTensor(input) && !program.record.find(input) &&
          !findings.tensors.computed.contains(input));
}

std::optional<SmallVector<std::pair<int, int>>> DetachExplainer::run() {
  bool detaches = false;
  for (StringRef value : call.values()) {
    const Origin *tensor = program.record.findArgument(value);
    detaches |= isDetached(value);
    isOnlyDetached &= isDetached(value) || tensor || program.hasValue(value);
    named.insert(tensor ? StringRef(tensor->name) : value);
  }
  SmallVector<std::pair<int, int>> operands;
  if (!detaches)
    return operands;
  StringSet<> own;
  for (int index : nodes)
    own.insert(program.node(index).output().begin(),
               program.node(index).output().end());
  for (int index : nodes)
    for (auto [operand, input] : enumerate(program.node(index).input())) {
      if (own.contains(input) || !isDetached(index, operand))
        continue;
      if (!isConstant(input))
        operands.push_back({index, operand});
      else if (findOwnValue(index, operand) &&
               isFloatTensor(program.findTensor(input)))
        return std::nullopt; // a parameter's value when it was exported
    }
  return operands.empty() ? std::nullopt : std::optional(operands);
}

/// The results of `detach` that no call names, up to the last that is named:
/// the exporter merged their readers with equal calls.
static std::vector<std::string>
findLostDetaches(const RecordedProgram &program) {
  std::set<int64_t> numbers;
  auto add = [&](StringRef value) {
    if (dropNumber(value) == "detach")
      numbers.insert(getNumber(value));
  };
  for (const auto &entry : program.getNamed())
    add(entry.first());
  for (const auto &[result, nodes] : program.findCalls())
    add(result);
  std::vector<std::string> lost;
  for (int64_t i = 0; !numbers.empty() && i < *numbers.rbegin(); ++i)
    if (!numbers.count(i))
      lost.push_back(i == 0 ? "detach" : "detach_" + std::to_string(i));
  return lost;
}

void stopGradients(RecordedProgram &program, Findings &findings) {
  for (auto &[result, nodes] : program.findCalls()) {
    for (int index : nodes)
      if (program.origin(index).call->op == "detach" &&
          program.node(index).op_type() == "Identity")
        makeStopGradient(program.node(index));
    auto operands = DetachExplainer(program, findings, nodes).run();
    if (!operands) {
      findings.add(Finding::UnknownDetach,
                   quote(program.node(nodes.front()).name()));
      continue;
    }
    for (auto [index, operand] : *operands) {
      onnx::NodeProto &node = program.node(index);
      std::string stopped =
          program.applyBefore(index, stopGradientOp, {node.input(operand)});
      makeStopGradient(program.getLastBefore(index));
      node.set_input(operand, stopped);
    }
  }
  std::vector<std::string> lost = findLostDetaches(program);
  if (lost.empty())
    return;
  std::vector<std::string> merged;
  for (const auto &entry : program.findMerged())
    if (!is_contained(merged, entry.second))
      merged.push_back(entry.second.str());
  if (!merged.empty())
    findings.add(Finding::MergedDetach, listFirstNames(lost) + " (perhaps " +
                                            listFirstNames(merged) + ")");
}

} // namespace dtc::frontend
