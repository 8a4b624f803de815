//===- TieParameters.cpp - tensors that share a parameter -----------------===//
//
// See TieParameters.h.
//
//===----------------------------------------------------------------------===//

#include "Parameters/TieParameters.h"
#include "Exporters/GeneratedNames.h"
#include "Support/NameList.h"

#include "llvm/ADT/STLExtras.h"

#include <map>
#include <set>

using namespace llvm;

namespace dtc::frontend {

/// Whether `a` and `b` are one tensor if their elements are equal, maybe up to
/// transpose.
static bool areOne(const Candidate &a, const Candidate &b) {
  auto isTable = [](const Candidate &c) { return c.role.isLookup; };
  auto isTableOrHead = [](const Candidate &c) {
    return c.role.isLookup || c.role.isProduct;
  };
  if ((isTable(a) && isTableOrHead(b)) || (isTable(b) && isTableOrHead(a)))
    return true;
  return isGeneratedName(a.name) && isGeneratedName(b.name) &&
         !a.module.empty() && isSameModule(a.module, b.module);
}

/// Whether the exporter made `a` from `b` for `x @ b.t()`, if they are
/// transposes of each other. Only for products outside of all layers.
static bool isTransposeOf(const Candidate &a, const Candidate &b) {
  return isGeneratedName(a.name) && a.module.empty() && a.role.isProduct &&
         !isGeneratedName(b.name);
}

SmallVector<SmallVector<ParameterUse>>
tieParameters(ArrayRef<Candidate> candidates, bool compare,
              const ImportOptions &options, ImportReport &report) {
  // The leader of each candidate's group. First, each is its own leader.
  SmallVector<ParameterUse> leaders;
  for (unsigned i = 0; i < candidates.size(); ++i)
    leaders.push_back({i});
  auto tie = [&](unsigned i, unsigned other, Match match) {
    ParameterUse leader = leaders[i];
    leader.transposed ^= match == Match::Transposed;
    ParameterUse old = leaders[other];
    for (ParameterUse &use : leaders)
      if (use.index == old.index)
        use = {leader.index,
               bool(use.transposed ^ old.transposed ^ leader.transposed)};
  };

  for (const auto &[name, with] : options.ties) {
    auto find = [&, name = StringRef(name)](StringRef wanted) -> int {
      for (auto [i, candidate] : enumerate(candidates))
        if (candidate.parameter.text == wanted)
          return i;
      report.issues.push_back({"", "",
                               "--tie names '" + wanted.str() +
                                   "', which is not a parameter of the model",
                               "--emit=import shows their names"});
      return -1;
    };
    int a = find(name), b = find(with);
    if (a < 0 || b < 0)
      continue;
    if (!candidates[a].data.hasData || !candidates[b].data.hasData) {
      report.issues.push_back({"", "",
                               "--tie " + name + "=" + with +
                                   ": the file has no data for these tensors",
                               "only equal tensors can be one parameter"});
      continue;
    }
    Match match = compareElements(candidates[a].data, candidates[b].data);
    if (match == Match::None)
      report.issues.push_back(
          {"", "",
           "--tie " + name + "=" + with +
               ": the tensors are not equal, and not transposes of each other",
           "only equal tensors can be one parameter"});
    else if (leaders[a].index != leaders[b].index)
      tie(a, b, match);
  }

  // Groups candidates that may be equal, in their order.
  std::map<std::pair<DType, uint64_t>, SmallVector<unsigned>> buckets;
  for (auto [i, candidate] : enumerate(candidates))
    if (compare && candidate.data.hasData && !candidate.print.uniform &&
        candidate.data.shape.size() >= 2)
      buckets[{candidate.data.dtype, candidate.print.hash}].push_back(i);
  std::set<std::string> apart;
  for (const auto &[key, bucket] : buckets)
    for (unsigned a = 0; a < bucket.size(); ++a)
      for (unsigned b = a + 1; b < bucket.size(); ++b) {
        unsigned i = bucket[a], other = bucket[b];
        if (leaders[i].index == leaders[other].index)
          continue;
        const Candidate &left = candidates[i], &right = candidates[other];
        bool canBeOne = !options.untie && areOne(left, right);
        bool canBeTransposed = !options.untie && (isTransposeOf(left, right) ||
                                                  isTransposeOf(right, left));
        if (!canBeOne && !canBeTransposed && apart.count(left.parameter.text) &&
            apart.count(right.parameter.text))
          continue; // both are known to stay separate
        Match match = compareElements(left.data, right.data);
        if (match == Match::None)
          continue;
        if (!canBeOne && !(canBeTransposed && match == Match::Transposed))
          apart.insert({left.parameter.text, right.parameter.text});
        else
          tie(i, other, match);
      }
  if (!apart.empty() && !options.untie)
    report.notes.push_back(
        std::to_string(apart.size()) +
        " parameters have equal initial values, but dtc trains them separately "
        "(" +
        listFirstNames(std::vector(apart.begin(), apart.end())) +
        "); --tie A=B makes one parameter of two");

  // Sorts groups by their first members. A member whose name an exporter did
  // not invent becomes the leader.
  std::map<unsigned, SmallVector<ParameterUse>> members;
  for (auto [i, leader] : enumerate(leaders))
    members[leader.index].push_back({unsigned(i), leader.transposed});
  SmallVector<SmallVector<ParameterUse>> groups;
  for (unsigned i = 0; i < candidates.size(); ++i) {
    auto it = members.find(leaders[i].index);
    if (it == members.end())
      continue;
    SmallVector<ParameterUse> group = std::move(it->second);
    members.erase(it);
    auto *named = find_if(group, [&](const ParameterUse &member) {
      return !isGeneratedName(candidates[member.index].name);
    });
    if (named == group.end())
      named = group.begin();
    bool flip = named->transposed;
    std::rotate(group.begin(), named, named + 1);
    for (ParameterUse &member : group)
      member.transposed ^= flip;
    groups.push_back(std::move(group));
  }
  return groups;
}

} // namespace dtc::frontend
