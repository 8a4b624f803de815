//===- MergedCalls.cpp - calls that the exporter merged -------------------===//
//
// See MergedCalls.h.
//
//===----------------------------------------------------------------------===//

#include "Exporters/Dynamo/MergedCalls.h"
#include "Exporters/Dynamo/FxRoles.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace dtc::frontend {

static bool isPart(StringRef value) { return getStem(value) == "getitem"; }

MergedCalls::MergedCalls(const FxGraph &graph)
    : graph(graph), nodes(graph.findCalls()) {
  for (int index = 0; index < graph.size(); ++index) {
    for (const std::string &output : graph.node(index).output())
      producers[output] = index;
    for (const std::string &input : graph.node(index).input())
      readers[input].push_back(index);
  }
  for (int index = 0; index < graph.size(); ++index)
    for (int operand = 0; operand < graph.node(index).input_size(); ++operand)
      if (std::string gone = find(index, operand);
          !gone.empty() && !graph.hasName(gone)) {
        std::vector<std::string> &list =
            names[graph.node(index).input(operand)];
        if (!is_contained(list, gone))
          list.push_back(gone);
      }
  for (auto &entry : names) {
    std::vector<std::string> &list = entry.second;
    llvm::sort(list, [](StringRef a, StringRef b) {
      return getNumber(a) < getNumber(b);
    });
  }
  dropOwnParts();
}

/// Parts of a result have names of their own: the first that is read is that of
/// the call which is left. Where one part has fewer names than another, its own
/// is not read.
void MergedCalls::dropOwnParts() {
  auto isOwn = [&](StringRef value) {
    return !nodes.count(value) && names.contains(value) &&
           isPart(names[value].front());
  };
  for (int index = 0; index < graph.size(); ++index) {
    size_t most = 0;
    for (const std::string &output : graph.node(index).output())
      if (isOwn(output))
        most = std::max(most, names[output].size());
    for (const std::string &output : graph.node(index).output())
      if (isOwn(output) && names[output].size() == most)
        names[output].erase(names[output].begin());
  }
}

/// What a call reads in place of the argument of another call of its kind that
/// an inner value of that is computed of: "" if that is none or several.
std::string MergedCalls::findArgument(const FxCall &call, const FxCall &other,
                                      StringRef value) const {
  if (call.op != other.op || call.arguments.size() != other.arguments.size())
    return "";
  StringSet<> needed;
  needed.insert(value);
  for (int index : reverse(nodes.find(other.result)->second))
    if (any_of(graph.node(index).output(), [&](const std::string &output) {
          return needed.contains(output);
        }))
      for (const std::string &input : graph.node(index).input())
        needed.insert(input);
  std::string found;
  for (auto [argument, kept] : zip(call.arguments, other.arguments))
    for (auto [name, input] : zip(argument, kept)) {
      if (name == input || !needed.contains(input))
        continue;
      // What was a dropout is no other call.
      if (!found.empty() || !graph.isGone(name) ||
          getStem(name) != getStem(input))
        return "";
      found = name;
    }
  return found;
}

std::string MergedCalls::find(int index, int operand) const {
  const onnx::NodeProto &node = graph.node(index);
  auto producer = producers.find(node.input(operand));
  if (!graph.origin(index).call || producer == producers.end())
    return "";
  const FxCall &call = *graph.origin(index).call;
  if (nodes.count(node.input(operand))) {
    std::string gone = graph.findMerged(index, operand);
    if (!gone.empty() || call.uses(node.input(operand)))
      return gone;
    // Another call of this kind that names it tells which argument it is.
    for (int reader : readers.find(node.input(operand))->second)
      if (const auto &other = graph.origin(reader).call;
          other && other->uses(node.input(operand)))
        if (gone = findArgument(call, *other, node.input(operand));
            !gone.empty())
          return gone;
    return "";
  }
  if (call.op == "stack" && node.op_type() == "Concat") {
    // Each operand was unsqueezed, equal ones once.
    const onnx::NodeProto &unsqueeze = graph.node(producer->second);
    if (call.arguments.empty() || unsqueeze.input_size() == 0 ||
        operand >= int(call.arguments.front().size()))
      return "";
    const std::string &part = call.arguments.front()[operand];
    bool isOther =
        graph.isGone(part) && getStem(part) == getStem(unsqueeze.input(0));
    return isOther ? part : "";
  }
  if (const auto &other = graph.origin(producer->second).call)
    return other->result == call.result
               ? ""
               : findArgument(call, *other, node.input(operand));
  std::optional<StringRef> value = findValue(call, node, operand);
  return value && isPart(*value) ? value->str() : "";
}

} // namespace dtc::frontend
