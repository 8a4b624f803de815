//===- MergedValues.cpp - values that stand for several calls -------------===//
//
// See MergedValues.h.
//
//===----------------------------------------------------------------------===//

#include "Exporters/Dynamo/MergedValues.h"
#include "Exporters/Dynamo/CallTable.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace dtc::frontend {

static bool isPart(StringRef value) { return getKind(value) == CallKind::Part; }

std::string findMergedCall(const RecordedProgram &program, int index,
                           int operand) {
  if (!program.origin(index).call)
    return "";
  const RecordedCall &call = *program.origin(index).call;
  const onnx::NodeProto &node = program.node(index);
  const std::string &input = node.input(operand);
  auto isOther = [&](StringRef value) {
    return program.isGone(value) && dropNumber(value) == dropNumber(input);
  };
  if (std::optional<StringRef> value = findValue(call, node, operand);
      value && (*value == input || isOther(*value)))
    return *value == input ? "" : value->str();
  if (call.names(input))
    return "";
  // The only argument that may be it.
  StringRef found;
  for (StringRef value : call.values()) {
    if (!isOther(value))
      continue;
    if (!found.empty() && found != value)
      return "";
    found = value;
  }
  return found.str();
}

MergedValues::MergedValues(const RecordedProgram &program)
    : program(program), nodes(program.findCalls()) {
  for (int index = 0; index < program.size(); ++index)
    for (const std::string &output : program.node(index).output())
      producers[output] = index;
  for (int index = 0; index < program.size(); ++index)
    for (auto [operand, input] : enumerate(program.node(index).input()))
      if (std::string gone = find(index, operand);
          !gone.empty() && !program.hasName(gone) &&
          !is_contained(names[input], gone))
        names[input].push_back(gone);
  for (auto &entry : names)
    llvm::sort(entry.second, [](StringRef a, StringRef b) {
      return getNumber(a) < getNumber(b);
    });
  dropOwnParts();
}

/// Parts of a result have names of their own: the first that is read is that of
/// the call which is left. Where one part has fewer names than another, its own
/// is not read.
void MergedValues::dropOwnParts() {
  auto isOwn = [&](StringRef value) {
    auto it = names.find(value);
    return !nodes.count(value) && it != names.end() && !it->second.empty() &&
           isPart(it->second.front());
  };
  for (int index = 0; index < program.size(); ++index) {
    size_t most = 0;
    for (const std::string &output : program.node(index).output())
      if (isOwn(output))
        most = std::max(most, names[output].size());
    for (const std::string &output : program.node(index).output())
      if (isOwn(output) && names[output].size() == most)
        names[output].erase(names[output].begin());
  }
}

std::string MergedValues::find(int index, int operand) const {
  const onnx::NodeProto &node = program.node(index);
  const std::string &input = node.input(operand);
  std::optional<int> producer = getProducer(input);
  if (!program.origin(index).call || !producer)
    return "";
  const RecordedCall &call = *program.origin(index).call;
  if (nodes.count(input))
    return findMergedCall(program, index, operand);
  if (call.op == "stack" && node.op_type() == "Concat") {
    // Each operand was unsqueezed, equal ones once.
    const onnx::NodeProto &unsqueeze = program.node(*producer);
    if (call.arguments.empty() || unsqueeze.input_size() == 0 ||
        operand >= int(call.arguments.front().values.size()))
      return "";
    const std::string &part = call.arguments.front().values[operand];
    bool isOther = program.isGone(part) &&
                   dropNumber(part) == dropNumber(unsqueeze.input(0));
    return isOther ? part : "";
  }
  if (program.origin(*producer).call)
    return ""; // an inner value of a call
  std::optional<StringRef> value = findValue(call, node, operand);
  return value && isPart(*value) ? value->str() : "";
}

ArrayRef<std::string> MergedValues::getNames(StringRef value) const {
  auto it = names.find(value);
  if (it == names.end())
    return {};
  return it->second;
}

ArrayRef<int> MergedValues::getNodes(StringRef call) const {
  const auto *it = nodes.find(call);
  if (it == nodes.end())
    return {};
  return it->second;
}

std::optional<int> MergedValues::getProducer(StringRef value) const {
  auto it = producers.find(value);
  return it == producers.end() ? std::nullopt : std::optional(it->second);
}

} // namespace dtc::frontend
