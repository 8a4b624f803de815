//===- ParameterCandidates.cpp - which parameter a tensor is of -----------===//
//
// See ParameterCandidates.h.
//
//===----------------------------------------------------------------------===//

#include "Exporters/Dynamo/ParameterCandidates.h"
#include "Exporters/Dynamo/CallTable.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace dtc::frontend {

using Origins = std::vector<const Origin *>;
using FindNames = std::vector<std::string> (*)(StringRef line);

/// Whether one module is the other or inside of it.
static bool isInside(StringRef module, StringRef outer) {
  return outer.empty() || module == outer ||
         (module.starts_with(outer) && module[outer.size()] == '.');
}

static bool isParameter(const Origin *origin) {
  return origin->kind == Origin::Parameter;
}

/// The node that reads a tensor first.
static const NodeRecord &user(const RecordedProgram &program,
                              const ComputedTensor &tensor) {
  return program.origin(tensor.uses.front().first);
}

ParameterCandidates::ParameterCandidates(const RecordedProgram &program,
                                         Findings &findings)
    : program(program), findings(findings) {
  for (const Origin &origin : program.record.origins())
    (isParameter(&origin) ? lacksParameters : lacksBuffers) |= isUnused(origin);
  for (int index = 0; index < program.size(); ++index)
    if (const NodeRecord &node = program.origin(index); node.call)
      for (const Origin *origin : program.findTensors(*node.call))
        arguments[{node.module(), node.source}].insert(origin);
}

bool ParameterCandidates::isUsedIn(const ComputedTensor &tensor,
                                   StringRef module) const {
  return any_of(tensor.uses, [&](const auto &place) {
    return isInside(program.origin(place.first).module(), module);
  });
}

Origins ParameterCandidates::find(const ComputedTensor &tensor) const {
  Origins inside, around;
  for (const Origin &origin : program.record.origins()) {
    if (!isParameter(&origin) || !isUnused(origin))
      continue;
    StringRef owner = splitName(origin.name).first;
    if (any_of(tensor.uses, [&](const auto &place) {
          return isInside(owner, program.origin(place.first).module());
        }))
      inside.push_back(&origin);
    else if (isUsedIn(tensor, owner))
      around.push_back(&origin);
  }
  // Tensors of outer modules may also come from buffers, such as the
  // frequencies of rotary embeddings.
  return inside.empty() && !lacksBuffers ? around : inside;
}

/// The tensors of the state dict that the source line of a node names.
static Origins findMentioned(const RecordedProgram &program,
                             const NodeRecord &user,
                             FindNames findNames = findAttributes) {
  Origins mentioned;
  std::string module = user.module().empty() ? "" : user.module().str() + ".";
  for (const std::string &attribute : findNames(user.source))
    // "items.weight.T", "items.weight", "items"
    for (StringRef path = attribute; !path.empty();
         path = path.contains('.') ? path.rsplit('.').first : "")
      if (const Origin *origin = program.record.find(module + path.str());
          origin && !is_contained(mentioned, origin))
        mentioned.push_back(origin);
  return mentioned;
}

Origins ParameterCandidates::findLost(const ComputedTensor &tensor) const {
  const NodeRecord &reader = user(program, tensor);
  Origins lost = findMentioned(program, reader);
  auto known = arguments.find({reader.module(), reader.source});
  if (known != arguments.end())
    erase_if(lost,
             [&](const Origin *origin) { return known->second.count(origin); });
  return lost;
}

/// Whether a tensor may have been computed of parameters that the model also
/// uses otherwise, or of random numbers: by a layer or dropout, as a number
/// that is added, as penalties of weights are, or on a line that names a
/// parameter or is not known.
bool ParameterCandidates::isDoubtful(const ComputedTensor &tensor) const {
  StringRef op = program.node(tensor.uses.front().first).op_type();
  bool isAdded = op == "Add" || op == "Sub";
  return (isAdded && numElements(tensor.data.shape) == 1) ||
         isLayerOrDropout(tensor.call) ||
         user(program, tensor).source.empty() ||
         any_of(findMentioned(program, user(program, tensor), findMembers),
                isParameter);
}

/// Finds candidates for tensors that no other rule explains: the candidates of
/// a similar tensor, since each layer has a copy of a constant of the first, or
/// the parameters that the line of source names.
void ParameterCandidates::findOthers(std::vector<ComputedTensor> &list) const {
  for (int round : {0, 1})
    for (ComputedTensor &tensor : list) {
      for (const ComputedTensor &other : list)
        if (!tensor.origin && tensor.candidates.empty() &&
            other.isAlike(tensor))
          tensor.candidates = other.candidates;
      if (round == 0 || tensor.origin || !tensor.candidates.empty())
        continue;
      copy_if(findLost(tensor), std::back_inserter(tensor.candidates),
              isParameter);
      if (tensor.candidates.empty() && isDoubtful(tensor))
        findings.add(Finding::Doubtful, quote(tensor.call));
    }
  erase_if(list, [](const ComputedTensor &tensor) {
    return !tensor.origin && tensor.candidates.empty();
  });
}

/// Calls of one kind that a line makes of as many parameters are in the order
/// in which it names these.
void ParameterCandidates::chooseByLine(
    std::vector<ComputedTensor> &list) const {
  MapVector<std::pair<StringRef, StringRef>, SmallVector<ComputedTensor *>>
      lines;
  for (ComputedTensor &tensor : list)
    if (!tensor.origin)
      lines[{user(program, tensor).module(), user(program, tensor).source}]
          .push_back(&tensor);
  for (auto &entry : lines) {
    SmallVector<ComputedTensor *> &calls = entry.second;
    Origins mentioned = findMentioned(program, user(program, *calls.front()));
    erase_if(mentioned, [&](const Origin *origin) {
      return !isUnused(*origin) ||
             none_of(calls, [&](const ComputedTensor *tensor) {
               return is_contained(tensor->candidates, origin);
             });
    });
    StringRef source = entry.first.second, op = dropNumber(calls.front()->call);
    if (mentioned.size() != calls.size() ||
        any_of(calls, [&](const ComputedTensor *tensor) {
          return dropNumber(tensor->call) != op;
        }))
      continue;
    sort(calls, [](const ComputedTensor *a, const ComputedTensor *b) {
      return getNumber(a->call) < getNumber(b->call);
    });
    for (auto [tensor, origin] : zip(calls, mentioned)) {
      tensor->origin = origin;
      tensor->isNamed = true;
      if (auto term = findTerm(source, splitName(origin->name).second, op))
        tensor->setTerms({*term});
    }
  }
}

/// Two that differ can not be one parameter, but for one whose elements are
/// known.
void ParameterCandidates::dropUnclear(std::vector<ComputedTensor> &list) const {
  std::set<const Origin *> unclear;
  for (const ComputedTensor &tensor : list)
    for (const ComputedTensor &other : list)
      if (&tensor != &other && tensor.origin && tensor.origin == other.origin &&
          !tensor.isPresent && !program.findTensor(tensor.origin->name) &&
          !tensor.isAlike(other))
        unclear.insert(tensor.origin);
  for (ComputedTensor &tensor : list)
    if (unclear.count(tensor.origin))
      tensor.forget();
  for (ComputedTensor &tensor : list) {
    if (tensor.origin)
      tensor.candidates = {tensor.origin};
    else
      erase_if(tensor.candidates, [&](const Origin *origin) {
        return any_of(list, [&](const ComputedTensor &other) {
          return other.origin == origin && !other.isAlike(tensor);
        });
      });
    if (tensor.candidates.empty() && program.findSteps(tensor.stored->name()))
      findings.add(Finding::Doubtful, quote(tensor.call));
  }
  erase_if(list, [](const ComputedTensor &tensor) {
    return tensor.candidates.empty();
  });
}

/// A tensor is of its only candidate if all others that could be are alike.
void ParameterCandidates::chooseByElements(
    std::vector<ComputedTensor> &list) const {
  for (ComputedTensor &tensor : list) {
    const Origin *only = tensor.candidates.front();
    if (!tensor.origin && tensor.candidates.size() == 1 && isUnused(*only) &&
        all_of(list, [&](const ComputedTensor &other) {
          return &other == &tensor || !other.dependsOn(only) ||
                 other.isAlike(tensor);
        }))
      tensor.origin = only;
  }
}

void ParameterCandidates::choose(std::vector<ComputedTensor> &list) const {
  findOthers(list);
  chooseByLine(list);
  dropUnclear(list);
  chooseByElements(list);
}

} // namespace dtc::frontend
