//===- ModuleCopy.cpp - calls as another module makes them ----------------===//
//
// See ModuleCopy.h.
//
//===----------------------------------------------------------------------===//

#include "Exporters/Dynamo/ModuleCopy.h"

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

ModuleCopy::ModuleCopy(RecordedProgram &program, StringSet<> &taken,
                       StringRef from, StringRef to)
    : program(program), taken(taken), from(from), to(to) {
  for (const Origin &own : program.record.origins()) {
    std::string name = replaceBeginning(own.name, from, to);
    const Origin *other = program.record.find(name);
    if (name != own.name && other && other->kind == own.kind &&
        !program.isUsed(name) && !taken.contains(name) &&
        !own.argument.empty() && !other->argument.empty())
      arguments[own.argument] = other->argument;
  }
  renamed = arguments;
}

std::string ModuleCopy::getModule(StringRef module) const {
  return replaceBeginning(module, from, to);
}

/// Whether the copy of a node reads another tensor of the state dict.
bool ModuleCopy::isReplaced(int index) const {
  const auto &call = program.origin(index).call;
  return call && any_of(call->values(), [&](StringRef value) {
           return arguments.contains(value);
         });
}

onnx::NodeProto &copyNode(RecordedProgram &program, int index, StringRef suffix,
                          StringMap<std::string> &results) {
  onnx::NodeProto copy = program.node(index);
  if (!copy.name().empty())
    copy.set_name(
        (StringRef(copy.name()).rsplit('/').second + "/" + suffix).str());
  for (std::string &output : *copy.mutable_output()) {
    std::string &name = results[output];
    if (name.empty())
      name = program.makeName(output + "/" + suffix);
    output = name;
  }
  for (std::string &input : *copy.mutable_input())
    if (auto it = results.find(input); it != results.end())
      input = it->second;
  onnx::NodeProto &added = program.addAfter(index);
  added = std::move(copy);
  return added;
}

void ModuleCopy::copyNode(int index, StringRef suffix) {
  const NodeRecord &origin = program.origin(index);
  if (origin.call) {
    for (StringRef value : origin.call->values())
      if (auto it = arguments.find(value); it != arguments.end())
        taken.insert(program.record.findArgument(it->second)->name);
    std::string &name = renamed[origin.call->result];
    if (name.empty())
      name = program.makeCallName(origin.call->result);
    if (is_contained(program.node(index).output(), origin.call->result) &&
        !results.contains(origin.call->result))
      results[origin.call->result] = program.makeName(name);
  }
  StringMap<std::string> modules;
  for (const std::string &module : origin.modules)
    modules[module] = getModule(module);
  onnx::NodeProto &copy = frontend::copyNode(program, index, suffix, results);
  renameInCall(copy, renamed);
  renameModules(copy, modules);
  nameByModule(copy);
}

std::string ModuleCopy::get(StringRef value, StringRef call) {
  if (auto it = results.find(value); it != results.end())
    return it->second;
  // The nodes that compute it, the last first.
  SmallVector<int> nodes;
  StringSet<> needed;
  needed.insert(value);
  auto computes = [&](int index, const StringSet<> &values) {
    return any_of(program.node(index).output(),
                  [&](const auto &output) { return values.contains(output); });
  };
  for (int index = program.size() - 1; index >= 0; --index)
    if (computes(index, needed)) {
      nodes.push_back(index);
      for (const std::string &input : program.node(index).input())
        needed.insert(input);
    }
  StringSet<> copied; // by copies of other values
  for (const auto &entry : results)
    copied.insert(entry.first());
  for (int index : reverse(nodes)) {
    const onnx::NodeProto &node = program.node(index);
    const auto &made = program.origin(index).call;
    bool readsCopy = any_of(node.input(), [&](const std::string &input) {
      return results.contains(input);
    });
    if (computes(index, copied) || !(readsCopy || isReplaced(index)))
      continue;
    if (is_contained(node.output(), value) &&
        (!made || made->result == value)) {
      results[value] = program.makeName(call);
      if (made)
        renamed[value] = call.str();
    }
    copyNode(index, call);
  }
  return results.lookup(value);
}

} // namespace dtc::frontend
