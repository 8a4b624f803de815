//===- Collective.h - the table of collectives ------------------*- C++ -*-===//
//
// What compiler and runtime know of each collective: its name, what a member
// reads and writes, and what it costs. Ops, reports, proofs, calls of the
// runtime and traces follow from these rows. No LLVM, no MPI.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_SUPPORT_COLLECTIVE_H
#define DTC_SUPPORT_COLLECTIVE_H

#include <cstdint>

namespace dtc {

enum class CollectiveKind : int8_t {
  AllReduce,
  ReduceScatter,
  AllGather,
  AllToAll,
  CollectivePermute,
};

/// How much a member's buffer has, in shares of the collective's `count`
/// elements.
enum class Shares : int8_t {
  One,       ///< its own
  PerMember, ///< one for each member of the group, in their order
};

struct CollectiveTraits {
  CollectiveKind kind;
  /// The op's mnemonic, which reports and traces use. The runtime's functions
  /// are dtcrt_NAME and dtcrt_NAME_start.
  const char *name;
  Shares input, output;
  bool reduces;  ///< combines elements; all others move bytes
  bool permutes; ///< a permutation of the members says who gets whose input
  bool isInPlace;
  /// A ring passes each share on this many times to all but one member; 0: a
  /// member sends its input once, to one other.
  int ringPasses;
};

/// Indexed by CollectiveKind.
inline constexpr CollectiveTraits collectiveTraits[] = {
    {CollectiveKind::AllReduce, "all_reduce", Shares::One, Shares::One,
     /*reduces=*/true, /*permutes=*/false, /*isInPlace=*/true,
     /*ringPasses=*/2},
    {CollectiveKind::ReduceScatter, "reduce_scatter", Shares::PerMember,
     Shares::One, true, false, false, 1},
    {CollectiveKind::AllGather, "all_gather", Shares::One, Shares::PerMember,
     false, false, false, 1},
    {CollectiveKind::AllToAll, "all_to_all", Shares::PerMember,
     Shares::PerMember, false, false, false, 1},
    {CollectiveKind::CollectivePermute, "collective_permute", Shares::One,
     Shares::One, false, true, false, 0},
};

inline constexpr int numCollectives =
    sizeof(collectiveTraits) / sizeof(collectiveTraits[0]);

constexpr const CollectiveTraits &getTraits(CollectiveKind kind) {
  return collectiveTraits[static_cast<int>(kind)];
}

/// Shares of a buffer, in a group of `members`.
constexpr int64_t countShares(Shares shares, int64_t members) {
  return shares == Shares::One ? 1 : members;
}

/// Shares of the larger of both buffers: what reports and traces count.
constexpr int64_t countShares(const CollectiveTraits &traits, int64_t members) {
  return traits.input == Shares::One ? countShares(traits.output, members)
                                     : members;
}

/// One step after the other, each with an equal part of the whole.
struct CollectiveSteps {
  double steps; ///< that a member takes
  double parts; ///< the whole is this many times what a step sends
};

/// The steps of the algorithm that costs assume: a ring of n members takes
/// n - 1 steps of 1 / n of the whole per pass, a permutation one step of all.
constexpr CollectiveSteps getSteps(const CollectiveTraits &traits,
                                   int64_t members) {
  double size = static_cast<double>(members);
  if (traits.ringPasses == 0)
    return {members > 1 ? 1.0 : 0.0, 1.0};
  return {traits.ringPasses * (size - 1), size};
}

namespace detail {
constexpr bool areTraitsIndexedByKind() {
  for (int i = 0; i < numCollectives; ++i)
    if (collectiveTraits[i].kind != static_cast<CollectiveKind>(i))
      return false;
  return true;
}
} // namespace detail
static_assert(detail::areTraitsIndexedByKind());

} // namespace dtc

#endif // DTC_SUPPORT_COLLECTIVE_H
