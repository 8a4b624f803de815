//===- SeparateCalls.cpp - calls with parameters of their own -------------===//
//
// See SeparateCalls.h.
//
//===----------------------------------------------------------------------===//

#include "SeparateCalls.h"
#include "FxGraph.h"
#include "FxRoles.h"
#include "NameList.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>

using namespace llvm;

namespace dtc::frontend {

namespace {
class CallSeparator {
public:
  explicit CallSeparator(FxGraph &graph) : graph(graph) {}

  void run(RestoredTensors &result);

private:
  const Origin *findSibling(const Origin &origin) const;
  std::string findModule(StringRef module, ArrayRef<const Origin *> own) const;
  bool isRepeated(StringRef kept, StringRef gone,
                  ArrayRef<const Origin *> own) const;
  bool copyCall(StringRef kept, StringRef gone);
  onnx::NodeProto &copyNode(int index, StringRef suffix,
                            StringMap<std::string> &results);
  void separateCalls();
  void separateSplits();

  FxGraph &graph;
  /// Nodes of a call.
  MapVector<StringRef, SmallVector<int>> nodes;
  std::vector<std::string> separated, guessed;
  /// Calls that are gone, and of no parameters that are known.
  std::vector<std::string> unknown;
};

/// The only other parameter of a module that nothing uses.
const Origin *CallSeparator::findSibling(const Origin &origin) const {
  const Origin *found = nullptr;
  for (const Origin &other : graph.provenance.origins())
    if (other.kind == Origin::Parameter && !graph.isUsed(other.name) &&
        splitName(other.name).first == splitName(origin.name).first) {
      if (found)
        return nullptr;
      found = &other;
    }
  return found;
}

/// The parameter of a module by the name that `like` has in its own.
std::string rename(const Origin &like, StringRef module) {
  StringRef leaf = splitName(like.name).second;
  return module.empty() ? leaf.str() : (module + "." + leaf).str();
}

/// The module that is gone and has parameters of these names, which nothing
/// uses: the one that has most of its path in common with `module`; "" if there
/// is none, or several.
std::string CallSeparator::findModule(StringRef module,
                                      ArrayRef<const Origin *> own) const {
  StringRef best;
  int64_t bestLength = -1;
  bool isOnly = false;
  for (const Origin &candidate : graph.provenance.origins()) {
    StringRef owner = splitName(candidate.name).first;
    if (owner.empty() || owner == best || graph.hasNodes(owner) ||
        !all_of(own, [&](const Origin *origin) {
          const Origin *other = graph.provenance.find(rename(*origin, owner));
          return other && other->kind == Origin::Parameter &&
                 !graph.isUsed(other->name) && !other->argument.empty();
        }))
      continue;
    int64_t most = std::min(owner.size(), module.size()), length = 0;
    while (length < most && owner[length] == module[length])
      ++length;
    isOnly = length > bestLength || (isOnly && length < bestLength);
    if (length > bestLength)
      best = owner;
    bestLength = std::max(bestLength, length);
  }
  return isOnly ? best.str() : "";
}

/// Whether a call `gone` can be that of a module like that of `kept`, which has
/// these parameters: calls are numbered by kind, and those that the module
/// makes before this one would be gone as well. A factor of 1, which the
/// exporter drops, is one call more.
bool CallSeparator::isRepeated(StringRef kept, StringRef gone,
                               ArrayRef<const Origin *> own) const {
  StringRef module = splitName(own.front()->name).first;
  int64_t keptNumber = getNumber(kept), goneNumber = getNumber(gone), calls = 1;
  StringRef stem = getStem(kept);
  auto isOfModule = [&](int64_t number) {
    auto it = nodes.find(makeCallName(stem, number));
    if (it == nodes.end())
      return false;
    const NodeOrigin &origin = graph.origin(it->second.front());
    // A call that reads the parameters is that of a former use.
    return origin.module() == module && none_of(own, [&](const Origin *tensor) {
             return origin.call->uses(tensor->argument);
           });
  };
  for (; calls <= keptNumber && isOfModule(keptNumber - calls); ++calls)
    if (goneNumber < calls ||
        !graph.isGone(makeCallName(stem, goneNumber - calls)))
      return false;
  return goneNumber - keptNumber >= calls;
}

/// Whether two modules are named as those that belong together are: their paths
/// differ in one word, by its middle or number: 'norm_q' and 'norm_kv',
/// 'layers.0.norm1' and 'layers.0.norm2'.
static bool areNamedAlike(StringRef a, StringRef b) {
  SmallVector<StringRef> wordsOfA, wordsOfB;
  a.split(wordsOfA, '.');
  b.split(wordsOfB, '.');
  if (wordsOfA.size() != wordsOfB.size())
    return false;
  unsigned different = 0;
  for (auto [word, other] : zip(wordsOfA, wordsOfB)) {
    if (word == other)
      continue;
    ++different;
    auto isNumber = [](StringRef x) { return all_of(x, isDigit); };
    size_t most = std::min(word.size(), other.size()), same = 0, ending = 0;
    while (same < most && word[same] == other[same])
      ++same;
    while (ending < most - same &&
           word[word.size() - 1 - ending] == other[other.size() - 1 - ending])
      ++ending;
    if (same + ending < 2 && !(isNumber(word) && isNumber(other)))
      return false;
  }
  return different == 1;
}

/// Adds a copy of a node; `results` are the copies of results, to read and to
/// add to.
onnx::NodeProto &CallSeparator::copyNode(int index, StringRef suffix,
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

/// Adds a call `gone` that is `kept` with the parameters of another module, or
/// with the other parameter of its own.
bool CallSeparator::copyCall(StringRef kept, StringRef gone) {
  SmallVector<const Origin *> own;
  for (const auto &argument : graph.origin(nodes[kept].front()).call->arguments)
    for (const std::string &value : argument)
      if (const Origin *origin = graph.provenance.findArgument(value);
          origin && origin->kind == Origin::Parameter)
        own.push_back(origin);
  bool isResult = any_of(nodes[kept], [&](int index) {
    return is_contained(graph.node(index).output(), kept);
  });
  if (own.empty() || !isResult || graph.hasName(gone))
    return false;
  StringRef module = splitName(own.front()->name).first;
  bool isOneModule = all_of(own, [&](const Origin *origin) {
    return splitName(origin->name).first == module;
  });
  std::string other =
      isOneModule && isRepeated(kept, gone, own) ? findModule(module, own) : "";
  StringMap<std::string> values, modules;
  const Origin *sibling =
      other.empty() && own.size() == 1 ? findSibling(*own.front()) : nullptr;
  if (sibling)
    values[own.front()->argument] = sibling->argument;
  else if (other.empty()) {
    if (!is_contained(unknown, gone))
      unknown.push_back(gone.str());
    return false;
  }
  for (const Origin *origin : own)
    if (!sibling)
      values[origin->argument] =
          graph.provenance.find(rename(*origin, other))->argument;
  for (const auto &entry : values)
    graph.markUsed(graph.provenance.findArgument(entry.second)->name);
  if (!sibling)
    modules[module] = other;
  values[kept] = gone.str();
  StringMap<std::string> results;
  results[kept] = graph.makeName(gone);
  for (int index : nodes[kept]) {
    onnx::NodeProto &copy = copyNode(index, gone, results);
    renameInCall(copy, values);
    renameModules(copy, modules);
  }
  StringRef to = sibling ? StringRef(sibling->name) : StringRef(other);
  (!sibling && areNamedAlike(module, to) ? separated : guessed)
      .push_back((gone + "' of '" + to).str());
  return true;
}

void CallSeparator::separateCalls() {
  StringSet<> made;
  for (int index = 0; index < graph.size(); ++index) {
    onnx::NodeProto &node = graph.node(index);
    if (!graph.origin(index).call)
      continue;
    for (int operand = 0; operand < node.input_size(); ++operand) {
      const std::string kept = node.input(operand);
      std::string gone =
          nodes.count(kept) ? graph.findMerged(index, operand) : std::string();
      if (gone.empty() || (!made.contains(gone) && !copyCall(kept, gone)))
        continue;
      made.insert(gone);
      node.set_input(operand, gone);
    }
  }
}

/// The parts of a parameter that attention splits belong to no call: where a
/// module reads those of another module's, it has a parameter of that name
/// itself, such as 'in_proj_bias'.
void CallSeparator::separateSplits() {
  StringMap<int> splits;
  for (int index = 0; index < graph.size(); ++index)
    if (graph.node(index).op_type() == "Split" &&
        graph.node(index).input_size() > 0 && !graph.origin(index).call)
      for (const std::string &output : graph.node(index).output())
        splits[output] = index;
  /// Copies of results, by module.
  StringMap<StringMap<std::string>> made;
  for (int index = 0; index < graph.size(); ++index) {
    StringRef module = graph.origin(index).module();
    for (std::string &input : *graph.node(index).mutable_input()) {
      auto split = splits.find(input);
      if (split == splits.end() || module.empty())
        continue;
      StringMap<std::string> &results = made[module];
      if (!results.count(input)) {
        std::string whole = graph.node(split->second).input(0);
        const Origin *origin = graph.provenance.find(whole);
        const Origin *own =
            origin ? graph.provenance.find(rename(*origin, module)) : nullptr;
        const onnx::TensorProto *tensor = graph.findTensor(whole);
        if (!own || own->kind != Origin::Parameter || !tensor ||
            !graph.markUsed(own->name))
          continue;
        graph.addTensor(*tensor, own->name, dimsOf(*tensor));
        results[whole] = own->name;
        copyNode(split->second, own->name, results);
        separated.push_back(own->name + "' of '" + module.str());
      }
      input = results[input];
    }
  }
}

void CallSeparator::run(RestoredTensors &result) {
  for (int index = 0; index < graph.size(); ++index)
    if (const auto &call = graph.origin(index).call)
      nodes[call->result].push_back(index);
  separateCalls();
  separateSplits();
  graph.insertNodes();
  if (!separated.empty())
    result.notes.push_back(
        "apart again is what the exporter merged, as it began alike: " +
        listFirstNames(separated));
  if (!guessed.empty())
    result.warnings.push_back(
        "the exporter merged calls, and these are taken for those of modules "
        "or parameters that are not in the file: " +
        listFirstNames(guessed) +
        "; if a module is called twice, or does not train, export with "
        "optimize=False");
  // One module that is called twice is one; a frozen copy is not.
  std::vector<std::string> lost;
  for (const Origin &origin : graph.provenance.origins())
    if (origin.kind != Origin::Parameter && !graph.isUsed(origin.name))
      lost.push_back(origin.name);
  if (!unknown.empty() && !lost.empty())
    result.warnings.push_back(
        "the exporter merged " + listFirstNames(unknown) +
        " with equal calls, and these are not in the file: " +
        listFirstNames(lost) +
        "; if they are copies of parameters, export "
        "with optimize=False");
}
} // namespace

void separateCalls(onnx::GraphProto &proto, const Provenance &provenance,
                   RestoredTensors &result) {
  FxGraph graph(proto, provenance);
  CallSeparator(graph).run(result);
}

} // namespace dtc::frontend
