//===- SeparateCalls.cpp - calls with parameters of their own -------------===//
//
// See SeparateCalls.h.
//
//===----------------------------------------------------------------------===//

#include "SeparateCalls.h"
#include "FxRoles.h"
#include "NameList.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

#include <map>

using namespace llvm;

namespace dtc::frontend {

namespace {
/// "model.norm" of "model.norm.weight".
StringRef getOwner(StringRef name) {
  return name.contains('.') ? name.rsplit('.').first : StringRef();
}

class Separator {
public:
  Separator(onnx::GraphProto &graph, const Provenance &provenance)
      : graph(graph), provenance(provenance) {}

  std::vector<std::string> run();

private:
  void read();
  std::string findResult(int node, int operand) const;
  const Origin *findSibling(const Origin &origin) const;
  StringMap<std::string> findModule(const FxCall &call) const;
  bool copyCall(StringRef kept, StringRef gone);
  void copyNode(int index, StringRef suffix, StringMap<std::string> &results);
  void separateSplits(std::vector<std::string> &separated);
  void rebuild();

  onnx::GraphProto &graph;
  const Provenance &provenance;
  std::vector<std::optional<FxCall>> calls;
  /// Nodes of a call.
  MapVector<StringRef, SmallVector<int>> nodes;
  StringSet<> values, used, modules;
  /// Nodes to go after one of the graph.
  std::map<int, std::vector<onnx::NodeProto>> copies;
};

void Separator::read() {
  for (const onnx::TensorProto &tensor : graph.initializer())
    if (provenance.find(tensor.name()))
      used.insert(tensor.name());
  for (const onnx::NodeProto &node : graph.node()) {
    calls.push_back(readFxCall(node));
    if (std::vector<std::string> path = readModules(node); !path.empty())
      modules.insert(path.back());
  }
  for (auto [index, call] : enumerate(calls)) {
    values.insert(graph.node(index).output().begin(),
                  graph.node(index).output().end());
    if (!call)
      continue;
    nodes[call->result].push_back(index);
    values.insert(call->result);
    for (const auto &argument : call->arguments)
      for (const std::string &value : argument)
        if (const Origin *tensor = provenance.findArgument(value))
          used.insert(tensor->name);
  }
}

/// What a call names instead of the result of another call of its kind that an
/// operand is; "" if it names that, or it is not clear what.
std::string Separator::findResult(int index, int operand) const {
  const FxCall &call = *calls[index];
  const std::string &input = graph.node(index).input(operand);
  auto isGone = [&](StringRef value) {
    return !values.contains(value) && !provenance.findArgument(value) &&
           getStem(value) == getStem(input);
  };
  if (std::optional<StringRef> value =
          findValue(call, graph.node(index), operand);
      value && (*value == input || isGone(*value)))
    return *value == input ? "" : value->str();
  if (call.uses(input))
    return "";
  std::string found;
  for (const auto &argument : call.arguments)
    for (const std::string &value : argument) {
      if (!isGone(value))
        continue;
      if (!found.empty() && found != value)
        return "";
      found = value;
    }
  return found;
}

/// The only other parameter of a module that nothing uses.
const Origin *Separator::findSibling(const Origin &origin) const {
  const Origin *found = nullptr;
  for (const Origin &other : provenance.origins())
    if (other.kind == Origin::Parameter && !used.contains(other.name) &&
        getOwner(other.name) == getOwner(origin.name)) {
      if (found)
        return nullptr;
      found = &other;
    }
  return found;
}

/// The words to replace in the record of a call so that it is that of a module
/// which is gone and has all the same parameters, or with the only other
/// parameter of its own; empty if there is none.
StringMap<std::string> Separator::findModule(const FxCall &call) const {
  SmallVector<const Origin *> own;
  for (const auto &argument : call.arguments)
    for (const std::string &value : argument)
      if (const Origin *origin = provenance.findArgument(value);
          origin && origin->kind == Origin::Parameter)
        own.push_back(origin);
  if (own.empty())
    return {};
  StringRef module = getOwner(own.front()->name);
  StringMap<std::string> best;
  size_t bestLength = 0;
  for (const Origin &candidate : provenance.origins()) {
    StringRef owner = getOwner(candidate.name);
    if (modules.contains(owner))
      continue; // has nodes of its own
    StringMap<std::string> names;
    for (const Origin *origin : own) {
      StringRef leaf = origin->name;
      if (!leaf.consume_front(module))
        break;
      const Origin *other = provenance.find((owner + leaf).str());
      if (!other || other->kind != Origin::Parameter ||
          used.contains(other->name) || other->argument.empty())
        break;
      names[origin->argument] = other->argument;
    }
    size_t length =
        std::mismatch(owner.begin(), owner.begin() + std::min(owner.size(),
                                                              module.size()),
                      module.begin())
            .first -
        owner.begin();
    if (names.size() != own.size() || (!best.empty() && length <= bestLength))
      continue;
    if (!module.empty())
      names[module] = owner.str();
    best = std::move(names);
    bestLength = length;
  }
  if (best.empty() && own.size() == 1)
    if (const Origin *other = findSibling(*own.front()))
      best[own.front()->argument] = other->argument;
  return best;
}

/// Adds a copy of a node; `results` are the copies of results, to read and to
/// add to.
void Separator::copyNode(int index, StringRef suffix,
                         StringMap<std::string> &results) {
  onnx::NodeProto copy = graph.node(index);
  if (!copy.name().empty())
    copy.set_name((copy.name() + "/" + suffix).str());
  for (std::string &output : *copy.mutable_output()) {
    auto it = results.try_emplace(output, (output + "/" + suffix).str()).first;
    output = it->second;
  }
  for (std::string &input : *copy.mutable_input())
    if (auto it = results.find(input); it != results.end())
      input = it->second;
  copies[index].push_back(std::move(copy));
}

/// Adds a call `gone` that is `kept` with the parameters of another module.
bool Separator::copyCall(StringRef kept, StringRef gone) {
  StringMap<std::string> names = findModule(*calls[nodes[kept].front()]);
  if (names.empty())
    return false;
  for (const auto &entry : names)
    if (const Origin *origin = provenance.findArgument(entry.second))
      used.insert(origin->name);
  names[kept] = gone.str();
  StringMap<std::string> results;
  results[kept] = gone.str();
  for (int index : nodes[kept]) {
    copyNode(index, gone, results);
    renameInRecord(copies[index].back(), names);
  }
  return true;
}

/// The parts of a parameter that attention splits belong to no call: where a
/// module reads those of another module's, it has a parameter of that name
/// itself, such as 'in_proj_bias'.
void Separator::separateSplits(std::vector<std::string> &separated) {
  StringMap<int> splits;
  for (auto [index, node] : enumerate(graph.node()))
    if (node.op_type() == "Split" && !calls[index])
      for (const std::string &output : node.output())
        splits[output] = index;
  /// Copies of results, by module.
  StringMap<StringMap<std::string>> made;
  for (onnx::NodeProto &node : *graph.mutable_node())
    for (std::string &input : *node.mutable_input()) {
      auto split = splits.find(input);
      std::vector<std::string> modules = readModules(node);
      if (split == splits.end() || modules.empty())
        continue;
      StringMap<std::string> &results = made[modules.back()];
      if (!results.count(input)) {
        std::string whole = graph.node(split->second).input(0);
        StringRef owner = getOwner(whole);
        std::string own =
            modules.back() + "." +
            StringRef(whole).drop_front(owner.empty() ? 0 : owner.size() + 1)
                .str();
        const Origin *origin = provenance.find(own);
        auto tensor =
            find_if(graph.initializer(), [&](const onnx::TensorProto &tensor) {
              return tensor.name() == whole;
            });
        if (!origin || origin->kind != Origin::Parameter || owner.empty() ||
            tensor == graph.initializer().end() || !used.insert(own).second)
          continue;
        onnx::TensorProto copy = *tensor;
        copy.set_name(own);
        *graph.add_initializer() = std::move(copy);
        results[whole] = own;
        copyNode(split->second, own, results);
        separated.push_back(own + "' of '" + whole);
      }
      input = results[input];
    }
}

void Separator::rebuild() {
  google::protobuf::RepeatedPtrField<onnx::NodeProto> list;
  for (auto [index, node] : enumerate(*graph.mutable_node())) {
    list.Add()->Swap(&node);
    for (onnx::NodeProto &copy : copies[index])
      list.Add()->Swap(&copy);
  }
  graph.mutable_node()->Swap(&list);
}

std::vector<std::string> Separator::run() {
  read();
  std::vector<std::string> separated;
  StringSet<> made;
  for (auto [index, call] : enumerate(calls)) {
    if (!call)
      continue;
    onnx::NodeProto &node = *graph.mutable_node(index);
    for (int operand = 0; operand < node.input_size(); ++operand) {
      const std::string kept = node.input(operand);
      std::string gone =
          nodes.count(kept) ? findResult(index, operand) : std::string();
      if (gone.empty() || (!made.contains(gone) && !copyCall(kept, gone)))
        continue;
      if (made.insert(gone).second)
        separated.push_back(gone + "' of '" + kept);
      node.set_input(operand, gone);
    }
  }
  separateSplits(separated);
  rebuild();
  return separated;
}
} // namespace

void separateCalls(onnx::GraphProto &graph, const Provenance &provenance,
                   RestoredTensors &result) {
  std::vector<std::string> separated = Separator(graph, provenance).run();
  if (!separated.empty())
    result.notes.push_back(
        std::to_string(separated.size()) +
        (separated.size() == 1 ? " value that the exporter merged with an "
                                 "equal one is apart: "
                               : " values that the exporter merged with equal "
                                 "ones are apart: ") +
        listFirstNames(separated));
}

} // namespace dtc::frontend
