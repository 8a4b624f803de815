//===- Mixing.h - neighbours of gossip averaging ----------------*- C++ -*-===//
//
// A worker replaces its parameters by a weighted mean of its own and those of
// its neighbours: row i of W has the weights of worker i. W is a sum of
// permutations whose weights add up to 1, so its rows and columns do, too.
// Then the mean of all workers' parameters does not change.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_TRAINING_MIXING_H
#define DTC_TRAINING_MIXING_H

#include "mlir/Support/LLVM.h"

#include <cstdint>

namespace dtc {

enum class MixingKind {
  /// Both neighbours in a ring and oneself, a third each: D-PSGD, 1705.09056.
  Ring,
  /// The four neighbours in a torus and oneself, a fifth each.
  Torus,
  /// Workers 1, 2, 4, ... places further and oneself, equal weights: Assran et
  /// al., 1811.10792.
  Exponential,
  /// In each round another one of these, half each. After log2 n rounds all
  /// have the mean, if n is a power of two: Ying et al., 2110.13363.
  OnePeer,
};

/// A part of a mixing matrix: worker i gets the parameters of sources[i], with
/// the weight `count` / `total`.
struct MixingTerm {
  llvm::SmallVector<int64_t> sources;
  int64_t count, total;

  bool isOwn() const;
  double getWeight() const { return double(count) / double(total); }
};

/// The matrices of the rounds, which repeat. No two terms of a round have the
/// same sources.
using MixingRound = llvm::SmallVector<MixingTerm>;
llvm::SmallVector<MixingRound> getMixing(MixingKind kind, int64_t workers);

/// Whether the rows and columns of a round's matrix add up to 1, in whole
/// numbers.
bool isDoublyStochastic(const MixingRound &round);

/// The factor by which a cycle of rounds at least shrinks the distance from the
/// mean, per round: the second largest singular value of the product of the
/// matrices, to the power of 1 / rounds. For one symmetric matrix it is |λ2|.
double getContraction(llvm::ArrayRef<MixingRound> rounds);

} // namespace dtc

#endif // DTC_TRAINING_MIXING_H
