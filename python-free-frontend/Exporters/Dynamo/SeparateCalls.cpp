//===- SeparateCalls.cpp - calls with parameters of their own -------------===//
//
// See SeparateCalls.h.
//
//===----------------------------------------------------------------------===//

#include "Exporters/Dynamo/SeparateCalls.h"
#include "Exporters/Dynamo/CallCopies.h"
#include "Exporters/Dynamo/MergedCalls.h"
#include "Exporters/ModuleNames.h"
#include "Support/NameList.h"
#include "Support/TensorData.h"

#include "llvm/ADT/STLExtras.h"

#include <map>
#include <set>

using namespace llvm;

namespace dtc::frontend {

namespace {
class CallSeparator {
public:
  explicit CallSeparator(FxGraph &graph) : graph(graph), merged(graph) {}

  void run(RestoredTensors &result);

private:
  const Origin *findSibling(const Origin &origin) const;
  std::vector<std::string> findModules(StringRef module,
                                       ArrayRef<const Origin *> own) const;
  bool isRepeated(StringRef kept, StringRef gone,
                  ArrayRef<const Origin *> own) const;
  SmallVector<const Origin *> findParameters(int index) const;
  std::pair<StringRef, SmallVector<const Origin *>>
  findNearestParameters(StringRef value) const;
  bool hasGap(StringRef call) const;
  bool areTwins(StringRef from, StringRef to) const;
  CallCopies *findCopies(StringRef value, StringRef gone, StringRef reader);
  void separateCalls();
  void separateSplits();

  FxGraph &graph;
  MergedCalls merged;
  StringMap<int64_t> lastNumbers; ///< of calls, by kind
  /// By "net>old", the calls of `net` as `old` makes them.
  std::map<std::string, CallCopies> copies;
  /// By value and name, whose copies these are; null if that is not known.
  StringMap<StringMap<CallCopies *>> found;
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

/// The modules that may have made a call in place of `module`: those that have
/// parameters of these names, which nothing uses but copies of this module's
/// calls, and no nodes, and of these the nearest by name, in the order of the
/// state dict.
std::vector<std::string>
CallSeparator::findModules(StringRef module,
                           ArrayRef<const Origin *> own) const {
  StringSet<> copied, seen;
  for (const auto &entry : copies)
    copied.insert(entry.second.getModule(module));
  std::vector<std::string> found;
  for (const Origin &candidate : graph.provenance.origins()) {
    std::string owner = splitName(candidate.name).first.str();
    if (owner.empty() || owner == module || seen.contains(owner))
      continue;
    if (copied.contains(owner) ||
        (!graph.hasNodes(owner) && all_of(own, [&](const Origin *origin) {
          const Origin *other = graph.provenance.find(rename(*origin, owner));
          return other && other->kind == Origin::Parameter &&
                 !graph.isUsed(other->name) && !other->argument.empty();
        }))) {
      seen.insert(owner);
      found.push_back(owner);
    }
  }
  return findNearestModules(found, module);
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
    ArrayRef<int> nodes = merged.getNodes(makeCallName(stem, number));
    if (nodes.empty())
      return false;
    const NodeOrigin &origin = graph.origin(nodes.front());
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

/// The parameters that the call of a node reads.
SmallVector<const Origin *> CallSeparator::findParameters(int index) const {
  SmallVector<const Origin *> own;
  if (const auto &call = graph.origin(index).call)
    for (const auto &argument : call->arguments)
      for (const std::string &value : argument)
        if (const Origin *origin = graph.provenance.findArgument(value);
            origin && origin->kind == Origin::Parameter)
          own.push_back(origin);
  return own;
}

/// The last call with any that a value is computed by, and these.
std::pair<StringRef, SmallVector<const Origin *>>
CallSeparator::findNearestParameters(StringRef value) const {
  StringSet<> needed;
  needed.insert(value);
  for (int index = merged.getProducer(value).value_or(-1); index >= 0;
       --index) {
    const onnx::NodeProto &node = graph.node(index);
    if (none_of(node.output(), [&](const std::string &output) {
          return needed.contains(output);
        }))
      continue;
    if (auto own = findParameters(index); !own.empty())
      return {graph.origin(index).call->result, own};
    for (const std::string &input : node.input())
      needed.insert(input);
  }
  return {};
}

/// Whether a later call of this kind is gone.
bool CallSeparator::hasGap(StringRef call) const {
  auto last = lastNumbers.find(getStem(call));
  int64_t end = last == lastNumbers.end() ? 0 : last->second;
  for (int64_t number = getNumber(call) + 1; number < end; ++number)
    if (graph.isGone(makeCallName(getStem(call), number)))
      return true;
  return false;
}

/// Whether two modules have parameters of the same names.
bool CallSeparator::areTwins(StringRef from, StringRef to) const {
  auto namesOf = [&](StringRef module) {
    std::set<StringRef> names;
    for (const Origin &origin : graph.provenance.origins())
      if (StringRef rest = origin.name;
          origin.kind == Origin::Parameter && rest.consume_front(module) &&
          (module.empty() || rest.starts_with(".")))
        names.insert(rest);
    return names;
  };
  return namesOf(from) == namesOf(to);
}

/// The calls of the module that made `gone`, which the exporter merged with
/// `value`, by the parameters that are nearest: those of another module of the
/// same names, or one more parameter of the same module. Null if it is not
/// clear which.
CallCopies *CallSeparator::findCopies(StringRef value, StringRef gone,
                                      StringRef reader) {
  auto [last, own] = findNearestParameters(value);
  if (own.empty())
    return nullptr;
  StringRef module = splitName(own.front()->name).first;
  ArrayRef<int> nodes = merged.getNodes(value);
  bool isDirect = !nodes.empty() && !findParameters(nodes.front()).empty();
  std::vector<std::string> all;
  if (all_of(own,
             [&](const Origin *origin) {
               return splitName(origin->name).first == module;
             }) &&
      (!isDirect || isRepeated(value, gone, own)))
    all = findModules(module, own);
  // Which of several, the name of the reader tells, or the order of calls.
  std::vector<std::string> modules = findNearestModules(all, reader);
  bool isSure = modules.size() == 1;
  ArrayRef<std::string> names = merged.getNames(value);
  if (!isSure && all.size() == names.size())
    modules = {all[find(names, gone) - names.begin()]};
  const Origin *sibling = modules.empty() && isDirect && own.size() == 1
                              ? findSibling(*own.front())
                              : nullptr;
  if (modules.size() != 1 && !sibling) {
    if (isDirect)
      unknown.push_back(gone.str());
    return nullptr;
  }
  StringRef from = sibling ? StringRef(own.front()->name) : module;
  StringRef to = sibling ? StringRef(sibling->name) : modules.front();
  isSure &= !sibling && areNamedAlike(from, to);
  std::string name = (gone + "' of '" + to).str();
  auto [outer, otherOuter] = dropCommonEnd(from, to);
  // What is computed of calls with parameters may as well be computed twice of
  // one of these.
  bool isCopied = outer.size() < from.size() || areNamedAlike(from, to);
  bool isShown = isDirect || hasGap(last);
  if (!isShown && !(isCopied && areTwins(outer, otherOuter)))
    return nullptr;
  isSure &= isShown;
  if (!sibling) {
    from = outer;
    to = otherOuter;
  }
  auto [it, isNew] =
      copies.try_emplace((from + ">" + to).str(), graph, from, to);
  if (isNew)
    (isSure ? separated : guessed).push_back(name);
  return &it->second;
}

void CallSeparator::separateCalls() {
  for (int index = 0; index < graph.size(); ++index) {
    if (const auto &call = graph.origin(index).call) {
      int64_t &last = lastNumbers[getStem(call->result)];
      last = std::max(last, getNumber(call->result));
    }
    // What the exporter computed of a parameter uses it.
    for (const std::string &input : graph.node(index).input())
      for (const Origin *origin : graph.provenance.findSources(input))
        graph.markUsed(origin->name);
  }
  for (int index = 0; index < graph.size(); ++index) {
    onnx::NodeProto &node = graph.node(index);
    for (int operand = 0; operand < node.input_size(); ++operand) {
      std::string value = node.input(operand),
                  gone = merged.find(index, operand);
      if (!is_contained(merged.getNames(value), gone))
        continue;
      StringMap<CallCopies *> &known = found[value];
      if (!known.contains(gone)) {
        CallCopies *calls =
            findCopies(value, gone, graph.origin(index).module());
        // Two calls are not of one module.
        bool isTaken = calls && any_of(known, [&](const auto &entry) {
                         return entry.second == calls;
                       });
        if (isTaken)
          unknown.push_back(gone);
        known[gone] = isTaken ? nullptr : calls;
      }
      CallCopies *calls = known[gone];
      std::string copy = calls ? calls->get(value, gone) : "";
      if (copy.empty())
        continue;
      node.set_input(operand, copy);
      if (std::string name = calls->getCallName(value); !name.empty())
        renameInCall(node, {{gone, name}});
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
        copyNode(graph, split->second, own->name, results);
        separated.push_back(own->name + "' of '" + module.str());
      }
      input = results[input];
    }
  }
}

void CallSeparator::run(RestoredTensors &result) {
  separateCalls();
  separateSplits();
  graph.insertNodes();
  if (!separated.empty())
    result.details.push_back(
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
