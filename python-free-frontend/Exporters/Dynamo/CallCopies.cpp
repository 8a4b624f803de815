//===- CallCopies.cpp - calls as another module makes them ----------------===//
//
// See CallCopies.h.
//
//===----------------------------------------------------------------------===//

#include "Exporters/Dynamo/CallCopies.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace dtc::frontend {

/// "old.0" of "net.0", where `from` is "net" and `to` is "old"; a path that
/// does not begin so is as it was.
static std::string replaceBeginning(StringRef path, StringRef from,
                                    StringRef to) {
  StringRef rest = path;
  if (!from.empty() && !rest.consume_front(from))
    return path.str();
  if (!from.empty() && !rest.empty() && !rest.consume_front("."))
    return path.str();
  StringRef between = to.empty() || rest.empty() ? "" : ".";
  return (to + between + rest).str();
}

CallCopies::CallCopies(FxGraph &graph, StringRef from, StringRef to)
    : graph(graph), from(from), to(to) {
  for (const Origin &own : graph.provenance.origins()) {
    std::string name = replaceBeginning(own.name, from, to);
    const Origin *other = graph.provenance.find(name);
    if (name != own.name && other && other->kind == own.kind &&
        !graph.isUsed(name) && !own.argument.empty() &&
        !other->argument.empty())
      arguments[own.argument] = other->argument;
  }
  renamed = arguments;
}

std::string CallCopies::getModule(StringRef module) const {
  return replaceBeginning(module, from, to);
}

/// What a call reads in place of tensors that are replaced.
SmallVector<const Origin *>
CallCopies::findReplacements(const FxCall &call) const {
  SmallVector<const Origin *> others;
  for (const auto &argument : call.arguments)
    for (const std::string &value : argument)
      if (auto it = arguments.find(value); it != arguments.end())
        others.push_back(graph.provenance.findArgument(it->second));
  return others;
}

onnx::NodeProto &copyNode(FxGraph &graph, int index, StringRef suffix,
                          StringMap<std::string> &results) {
  onnx::NodeProto copy = graph.node(index);
  if (!copy.name().empty())
    copy.set_name(
        (StringRef(copy.name()).rsplit('/').second + "/" + suffix).str());
  for (std::string &output : *copy.mutable_output()) {
    auto it = results.find(output);
    if (it == results.end())
      it = results.try_emplace(output, graph.makeName(output + "/" + suffix))
               .first;
    output = it->second;
  }
  for (std::string &input : *copy.mutable_input())
    if (auto it = results.find(input); it != results.end())
      input = it->second;
  onnx::NodeProto &added = graph.addAfter(index);
  added = std::move(copy);
  return added;
}

void CallCopies::copyNode(int index, StringRef suffix) {
  const NodeOrigin &origin = graph.origin(index);
  if (origin.call) {
    for (const Origin *other : findReplacements(*origin.call))
      graph.markUsed(other->name);
    std::string &name = renamed[origin.call->result];
    if (name.empty())
      name = graph.makeCallName(origin.call->result);
    if (is_contained(graph.node(index).output(), origin.call->result) &&
        !results.contains(origin.call->result))
      results[origin.call->result] = graph.makeName(name);
  }
  StringMap<std::string> modules;
  for (const std::string &module : origin.modules)
    modules[module] = getModule(module);
  onnx::NodeProto &copy = frontend::copyNode(graph, index, suffix, results);
  renameInCall(copy, renamed);
  renameModules(copy, modules);
}

std::string CallCopies::get(StringRef value, StringRef call) {
  if (auto it = results.find(value); it != results.end())
    return it->second;
  // The nodes that compute it, the last first.
  SmallVector<int> nodes;
  StringSet<> needed;
  needed.insert(value);
  for (int index = graph.size() - 1; index >= 0; --index) {
    const onnx::NodeProto &node = graph.node(index);
    if (none_of(node.output(), [&](const std::string &output) {
          return needed.contains(output);
        }))
      continue;
    nodes.push_back(index);
    for (const std::string &input : node.input())
      needed.insert(input);
  }
  auto isReplaced = [&](const std::string &input) {
    return results.contains(input);
  };
  StringSet<> copied; // by copies of other values
  for (const auto &entry : results)
    copied.insert(entry.first());
  for (int index : reverse(nodes)) {
    const onnx::NodeProto &node = graph.node(index);
    const auto &made = graph.origin(index).call;
    if (any_of(node.output(),
               [&](const std::string &output) {
                 return copied.contains(output);
               }) ||
        (none_of(node.input(), isReplaced) &&
         (!made || findReplacements(*made).empty())))
      continue;
    if (is_contained(node.output(), value) &&
        (!made || made->result == value)) {
      results[value] = graph.makeName(call);
      if (made)
        renamed[value] = call.str();
    }
    copyNode(index, call);
  }
  return results.lookup(value);
}

} // namespace dtc::frontend
