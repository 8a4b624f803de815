//===- SeparateModules.cpp - modules that begin alike ---------------------===//
//
// Two modules that begin with equal parameters and see the same input compute
// the same, and the exporter's optimizer keeps one of them: of GPT-NeoX's two
// norms of one residual stream, say, or of a network and its frozen copy. A
// call that names a result which is gone shows the other:
//
//   %linear = linear(%x, %p_net_0_weight); %relu = relu(%linear)
//   %linear_4 = linear(%relu_1, ...)                       // reads relu
//
// What the result is computed of is there again, as 'relu_1', with the
// parameters of a module that has no nodes and is the nearest by name
// (ModuleCopy): relu_1 = relu(linear_1), linear_1 = linear(x, old.0.weight).
//
//===----------------------------------------------------------------------===//

#include "Exporters/Dynamo/MergedValues.h"
#include "Exporters/Dynamo/ModuleCopy.h"
#include "Exporters/Dynamo/Rules.h"
#include "Exporters/ModuleNames.h"

#include "llvm/ADT/STLExtras.h"

#include <map>
#include <set>

using namespace llvm;

namespace dtc::frontend {

namespace {
class ModuleSeparator {
public:
  ModuleSeparator(RecordedProgram &program, Findings &findings)
      : program(program), findings(findings), merged(program) {}

  void run();

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
  ModuleCopy *findCopies(StringRef value, StringRef gone, StringRef reader);
  void separateCalls();
  void separateSplits();

  bool isUnused(const Origin &tensor) const {
    return !program.isUsed(tensor.name) && !taken.contains(tensor.name);
  }

  RecordedProgram &program;
  Findings &findings;
  MergedValues merged;
  /// Tensors that copies read, or from which the exporter computed others.
  StringSet<> taken;
  StringMap<int64_t> lastNumbers; ///< of calls, by kind
  /// By "net>old", the calls of `net` as `old` makes them.
  std::map<std::string, ModuleCopy> copies;
  /// By value and name, whose copies these are; null if that is not known.
  StringMap<StringMap<ModuleCopy *>> found;
  /// Whether a call is gone, and of no parameters that are known.
  bool hasUnknown = false;
  /// New names for the calls of nodes.
  std::vector<std::pair<int, StringMap<std::string>>> renames;
};

/// The only other parameter of a module that nothing uses.
const Origin *ModuleSeparator::findSibling(const Origin &origin) const {
  const Origin *found = nullptr;
  for (const Origin &other : program.record.origins())
    if (other.kind == Origin::Parameter && isUnused(other) &&
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
ModuleSeparator::findModules(StringRef module,
                             ArrayRef<const Origin *> own) const {
  StringSet<> copied, seen;
  for (const auto &entry : copies)
    copied.insert(entry.second.getModule(module));
  std::vector<std::string> found;
  for (const Origin &candidate : program.record.origins()) {
    std::string owner = splitName(candidate.name).first.str();
    if (owner.empty() || owner == module || seen.contains(owner))
      continue;
    if (copied.contains(owner) ||
        (!program.hasNodes(owner) && all_of(own, [&](const Origin *origin) {
          const Origin *other = program.record.find(rename(*origin, owner));
          return other && other->kind == Origin::Parameter &&
                 isUnused(*other) && !other->argument.empty();
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
bool ModuleSeparator::isRepeated(StringRef kept, StringRef gone,
                                 ArrayRef<const Origin *> own) const {
  StringRef module = splitName(own.front()->name).first;
  int64_t keptNumber = getNumber(kept), goneNumber = getNumber(gone), calls = 1;
  StringRef stem = dropNumber(kept);
  auto isOfModule = [&](int64_t number) {
    ArrayRef<int> nodes = merged.getNodes(makeResultName(stem, number));
    if (nodes.empty())
      return false;
    const NodeRecord &origin = program.origin(nodes.front());
    // A call that reads the parameters is that of a former use.
    return origin.module() == module && none_of(own, [&](const Origin *tensor) {
             return origin.call->names(tensor->argument);
           });
  };
  for (; calls <= keptNumber && isOfModule(keptNumber - calls); ++calls)
    if (goneNumber < calls ||
        !program.isGone(makeResultName(stem, goneNumber - calls)))
      return false;
  return goneNumber - keptNumber >= calls;
}

/// The parameters that the call of a node reads.
SmallVector<const Origin *> ModuleSeparator::findParameters(int index) const {
  SmallVector<const Origin *> own;
  if (const auto &call = program.origin(index).call)
    own = program.findTensors(*call);
  erase_if(own, [](const Origin *tensor) {
    return tensor->kind != Origin::Parameter;
  });
  return own;
}

/// The last call with any that a value is computed by, and these.
std::pair<StringRef, SmallVector<const Origin *>>
ModuleSeparator::findNearestParameters(StringRef value) const {
  StringSet<> needed;
  needed.insert(value);
  for (int index = merged.getProducer(value).value_or(-1); index >= 0;
       --index) {
    const onnx::NodeProto &node = program.node(index);
    if (none_of(node.output(), [&](const std::string &output) {
          return needed.contains(output);
        }))
      continue;
    if (auto own = findParameters(index); !own.empty())
      return {program.origin(index).call->result, own};
    for (const std::string &input : node.input())
      needed.insert(input);
  }
  return {};
}

/// Whether a later call of this kind is gone.
bool ModuleSeparator::hasGap(StringRef call) const {
  auto last = lastNumbers.find(dropNumber(call));
  int64_t end = last == lastNumbers.end() ? 0 : last->second;
  for (int64_t number = getNumber(call) + 1; number < end; ++number)
    if (program.isGone(makeResultName(dropNumber(call), number)))
      return true;
  return false;
}

/// Whether two modules have parameters of the same names.
bool ModuleSeparator::areTwins(StringRef from, StringRef to) const {
  auto namesOf = [&](StringRef module) {
    std::set<StringRef> names;
    for (const Origin &origin : program.record.origins())
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
ModuleCopy *ModuleSeparator::findCopies(StringRef value, StringRef gone,
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
  // The name of the reader, or the order of calls, tells which of several it
  // is.
  std::vector<std::string> modules = findNearestModules(all, reader);
  bool isSure = modules.size() == 1;
  ArrayRef<std::string> names = merged.getNames(value);
  if (!isSure && all.size() == names.size())
    modules = {all[find(names, gone) - names.begin()]};
  const Origin *sibling = modules.empty() && isDirect && own.size() == 1
                              ? findSibling(*own.front())
                              : nullptr;
  if (modules.size() != 1 && !sibling) {
    hasUnknown |= isDirect;
    return nullptr;
  }
  StringRef from = sibling ? StringRef(own.front()->name) : module;
  StringRef to = sibling ? StringRef(sibling->name) : modules.front();
  isSure &= !sibling && areNamedAlike(from, to);
  std::string name = quote(gone, "of", to);
  auto [outer, otherOuter] = dropCommonEnd(from, to);
  // A value that is computed from calls with parameters may also be computed
  // twice from one of them.
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
      copies.try_emplace((from + ">" + to).str(), program, taken, from, to);
  if (isNew)
    findings.add(isSure ? Finding::Separated : Finding::Guessed, name);
  return &it->second;
}

void ModuleSeparator::separateCalls() {
  for (int index = 0; index < program.size(); ++index) {
    if (const auto &call = program.origin(index).call) {
      int64_t &last = lastNumbers[dropNumber(call->result)];
      last = std::max(last, getNumber(call->result));
    }
    // A tensor that the exporter computed from a parameter uses it.
    for (const std::string &input : program.node(index).input())
      for (const Origin *origin : program.findSources(input))
        taken.insert(origin->name);
  }
  for (int index = 0; index < program.size(); ++index) {
    onnx::NodeProto &node = program.node(index);
    for (int operand = 0; operand < node.input_size(); ++operand) {
      std::string value = node.input(operand),
                  gone = merged.find(index, operand);
      if (!is_contained(merged.getNames(value), gone))
        continue;
      StringMap<ModuleCopy *> &known = found[value];
      if (!known.contains(gone)) {
        ModuleCopy *calls =
            findCopies(value, gone, program.origin(index).module());
        // Two calls are not of one module.
        bool isTaken = calls && any_of(known, [&](const auto &entry) {
                         return entry.second == calls;
                       });
        hasUnknown |= isTaken;
        known[gone] = isTaken ? nullptr : calls;
      }
      ModuleCopy *calls = known[gone];
      std::string copy = calls ? calls->get(value, gone) : "";
      if (copy.empty())
        continue;
      node.set_input(operand, copy);
      if (std::string name = calls->getCallName(value); !name.empty())
        renames.emplace_back(index, StringMap<std::string>{{gone, name}});
    }
  }
}

/// The parts of a parameter that attention splits belong to no call: where a
/// module reads those of another module's, it has a parameter of that name
/// itself, such as 'in_proj_bias'.
void ModuleSeparator::separateSplits() {
  StringMap<int> splits;
  for (int index = 0; index < program.size(); ++index)
    if (program.node(index).op_type() == "Split" &&
        program.node(index).input_size() > 0 && !program.origin(index).call)
      for (const std::string &output : program.node(index).output())
        splits[output] = index;
  /// Copies of results, by module.
  StringMap<StringMap<std::string>> made;
  for (int index = 0; index < program.size(); ++index) {
    StringRef module = program.origin(index).module();
    for (std::string &input : *program.node(index).mutable_input()) {
      auto split = splits.find(input);
      if (split == splits.end() || module.empty())
        continue;
      StringMap<std::string> &results = made[module];
      if (!results.count(input)) {
        std::string whole = program.node(split->second).input(0);
        const Origin *origin = program.record.find(whole);
        const Origin *own =
            origin ? program.record.find(rename(*origin, module)) : nullptr;
        const onnx::TensorProto *tensor = program.findTensor(whole);
        if (!own || own->kind != Origin::Parameter || !tensor ||
            !isUnused(*own) || !taken.insert(own->name).second)
          continue;
        program.addTensor(*tensor, own->name, dimsOf(*tensor));
        results[whole] = own->name;
        nameByModule(copyNode(program, split->second, own->name, results));
        findings.add(Finding::Separated, quote(own->name, "of", module));
      }
      input = results[input];
    }
  }
}

void ModuleSeparator::run() {
  separateCalls();
  separateSplits();
  // One module that is called twice is one; a frozen copy is not.
  for (const Origin &tensor : program.record.origins())
    if (hasUnknown && tensor.kind != Origin::Parameter && isUnused(tensor))
      findings.add(Finding::LostCopy, quote(tensor.name));
  for (const auto &[index, names] : renames)
    program.rename(index, names);
  program.insertRecorded();
}
} // namespace

void separateModules(RecordedProgram &program, Findings &findings) {
  ModuleSeparator(program, findings).run();
}

} // namespace dtc::frontend
