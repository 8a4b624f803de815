//===- TensorSources.cpp - what an exporter says that it computed ---------===//
//
// See TensorSources.h.
//
//===----------------------------------------------------------------------===//

#include "Exporters/Dynamo/TensorSources.h"
#include "Exporters/Dynamo/CallKinds.h"
#include "Exporters/Dynamo/FoldedSteps.h"
#include "Exporters/Dynamo/FxRoles.h"
#include "Exporters/ModuleNames.h"
#include "Support/HostTensor.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace llvm;

namespace dtc::frontend {

bool TensorSources::isOfNumbers(StringRef tensor) const {
  return graph.provenance.hasSources(tensor) && !isOfParameters(tensor);
}

bool TensorSources::isOfParameters(StringRef tensor) const {
  return any_of(graph.provenance.findSources(tensor), [](const Origin *origin) {
    return origin->kind == Origin::Parameter;
  });
}

/// Of equal tensors the exporter keeps one, and says nothing of the others.
void TensorSources::read(Computed &computed) const {
  SmallVector<const Origin *> origins =
      graph.provenance.findSources(computed.call);
  for (const Origin *origin : origins)
    if (origin->kind == Origin::Parameter)
      computed.candidates.push_back(origin);
  if (computed.candidates.size() != 1)
    return;
  const Origin *only = computed.candidates.front();
  bool isStored = graph.findTensor(only->name);
  if (std::optional<SourceTerm> term = findTermOf(computed, *only)) {
    computed.setTerms({*term});
    if (!computed.terms.empty())
      computed.origin = only;
  } else if (origins.size() == 1 && !isStored) {
    readSteps(computed, computed.call);
  }
  // It is not what the file has of the parameter.
  if (isStored)
    computed.folded = std::nullopt;
}

void TensorSources::readAlike(Computed &computed) const {
  StringRef stored = computed.stored->name();
  SmallVector<const Origin *> origins = graph.provenance.findSources(stored);
  // The line of source may say more.
  if (origins.size() == 1 && computed.candidates.size() == 1 &&
      getStem(stored) == getStem(computed.call) &&
      splitName(origins.front()->name).second ==
          splitName(computed.candidates.front()->name).second &&
      !findTermOf(computed, *computed.candidates.front()))
    readSteps(computed, stored);
}

/// Whether a call does more than to move elements or to scale them.
static bool isFunction(StringRef call) {
  return getStem(call) != "val" && !isMove(call) && !isCreation(call) &&
         !is_contained({"add", "sub", "mul", "div"}, getStem(call));
}

/// By the names of the calls on the way to `tensor`.
void TensorSources::readSteps(Computed &computed, StringRef tensor) const {
  // What made a value within a call is not recorded.
  if (getStem(tensor) == "val")
    return;
  SmallVector<StringRef> names = graph.provenance.findSteps(tensor);
  std::optional<FoldedSteps> steps = frontend::readSteps(tensor, names);
  std::optional<UnfoldedSteps> undone =
      steps ? undoSteps(*steps, computed.data) : std::nullopt;
  if (!undone) {
    // Without a lookup no positions are computed, but the parameter is.
    auto has = [&](auto isStep) { return any_of(names, isStep); };
    bool isLookup = has([](StringRef name) {
      return is_contained({"embedding", "index"}, getStem(name));
    });
    if (!isLookup && has(isFunction))
      computed.folded = std::nullopt;
    return;
  }
  computed.origin = computed.candidates.front();
  computed.folded = std::move(undone->parameter);
  computed.terms = std::move(undone->terms);
  computed.addsNumber = steps->addsNumber;
  computed.isSliced = steps->isSliced;
  computed.isRecorded = undone->isSure;
}

/// What was done with a parameter: by what its call multiplies it by, a call of
/// one operand, or the line of source. Of a parameter that the file has it must
/// give the tensor's elements, which also tell it alone.
std::optional<SourceTerm>
TensorSources::findTermOf(const Computed &computed,
                          const Origin &parameter) const {
  const NodeOrigin &user = graph.origin(computed.uses.front().first);
  StringRef stem = getStem(computed.call);
  SmallVector<SourceTerm> terms;
  if (std::optional<double> scale =
          user.call && user.call->uses(parameter.argument) &&
                  graph.provenance.findSources(computed.call).size() == 1
              ? findScale(*user.call)
              : std::nullopt)
    terms.push_back({SourceTerm::Multiply, *scale});
  if (!graph.provenance.hasSeveralSources(computed.call))
    if (auto function = findFunction(stem))
      terms.push_back(*function);
  if (auto term = findTerm(user.source, splitName(parameter.name).second, stem))
    terms.push_back(*term);
  auto alike = present.find(numElements(computed.data.shape));
  const TensorData *own = nullptr;
  if (alike != present.end())
    for (const auto &[origin, data] : alike->second)
      if (origin == &parameter && !data.transposed &&
          data.dtype == computed.data.dtype)
        own = &data;
  if (!own)
    return graph.findTensor(parameter.name) || terms.empty()
               ? std::nullopt
               : std::optional(terms.front());
  HostTensor from = toHostTensor(*own), to = toHostTensor(computed.data);
  auto fits = [&](const SourceTerm &term) {
    for (int64_t i = 0; i < to.size(); ++i) {
      double expected = term.apply(from.getFloat(i));
      if (!(std::fabs(to.getFloat(i) - expected) <=
            1e-6 * (std::fabs(expected) + std::fabs(term.constant))))
        return false;
    }
    return true;
  };
  // One pair of elements gives the number, the others tell whether it is it.
  int64_t first = 0;
  while (first < from.size() && from.getFloat(first) == 0)
    ++first;
  if (first < from.size() && !isUniform(*own)) {
    double x = from.getFloat(first), y = to.getFloat(first);
    if (is_contained({"mul", "div"}, stem) && y != 0)
      terms.push_back({SourceTerm::Multiply, y / x});
    if (is_contained({"add", "sub"}, stem))
      terms.push_back({SourceTerm::AddConstant, y - x});
  }
  const auto *found = find_if(terms, fits);
  return found == terms.end() ? std::nullopt : std::optional(*found);
}

} // namespace dtc::frontend
