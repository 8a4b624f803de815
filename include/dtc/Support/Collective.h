//===- Collective.h - the table of collectives ------------------*- C++ -*-===//
//
// Facts about each collective that compiler and runtime share: its name, the
// data that a member reads and writes, and its cost. Ops, reports, proofs,
// runtime calls and traces use these rows. No LLVM, no MPI.
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

/// The size of a member's buffer, in shares of the collective's `count`
/// elements.
enum class Shares : int8_t {
  One,       ///< the member's own
  PerMember, ///< one for each member of the group, in order
};

struct CollectiveTraits {
  CollectiveKind kind;
  /// The op's mnemonic, also in reports and traces. The runtime's functions are
  /// dtcrt_NAME and dtcrt_NAME_start.
  const char *name;
  Shares input, output;
  bool reduces;  ///< combines elements; others only move bytes
  bool permutes; ///< a permutation of the members maps inputs to outputs
  bool isInPlace;
  /// The number of times that a ring passes each share to all members but one.
  /// 0: each member sends its input once, to one other member.
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

/// The number of shares in a buffer, in a group of `members`.
constexpr int64_t countShares(Shares shares, int64_t members) {
  return shares == Shares::One ? 1 : members;
}

/// The number of shares in the larger of both buffers, which reports and traces
/// count.
constexpr int64_t countShares(const CollectiveTraits &traits, int64_t members) {
  return traits.input == Shares::One ? countShares(traits.output, members)
                                     : members;
}

/// A sequence of steps, each with an equal part of the whole.
struct CollectiveSteps {
  double steps; ///< of a member
  double parts; ///< the whole, divided by the part of one step
};

/// The steps of the algorithm that costs assume: a ring of n members takes n -
/// 1 steps per pass, each with 1 / n of the whole; a permutation takes one step
/// with the whole.
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
