//===- MixingTest.cpp - mixing matrices of gossip -------------------------===//
//
// Contraction against the eigenvalues that formulas give.
//
//===----------------------------------------------------------------------===//

#include "dtc/Training/Mixing.h"
#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace dtc;

static constexpr double pi = 3.14159265358979323846;

static double contract(MixingKind kind, int64_t workers) {
  return getContraction(getMixing(kind, workers));
}

TEST(Mixing, MatricesAreDoublyStochastic) {
  for (MixingKind kind : {MixingKind::Ring, MixingKind::Torus,
                          MixingKind::Exponential, MixingKind::OnePeer})
    for (int64_t workers = 1; workers <= 33; ++workers)
      for (const MixingRound &round : getMixing(kind, workers))
        EXPECT_TRUE(isDoublyStochastic(round)) << workers;
}

TEST(Mixing, FindsUnequalColumns) {
  EXPECT_FALSE(isDoublyStochastic({{{0, 1}, 1, 2}, {{0, 0}, 1, 2}}));
  EXPECT_FALSE(isDoublyStochastic({{{0, 1}, 1, 2}}));
}

TEST(Mixing, RingContractsByItsSecondEigenvalue) {
  EXPECT_NEAR(contract(MixingKind::Ring, 2), 1.0 / 3, 1e-9);
  for (int64_t workers : {3, 4, 5, 8, 16})
    EXPECT_NEAR(contract(MixingKind::Ring, workers),
                (1 + 2 * std::cos(2 * pi / double(workers))) / 3, 1e-6)
        << workers;
}

TEST(Mixing, TorusContractsByItsSecondEigenvalue) {
  EXPECT_NEAR(contract(MixingKind::Torus, 16), 3.0 / 5, 1e-6); // 4 x 4
  EXPECT_NEAR(contract(MixingKind::Torus, 15),                 // 3 x 5
              (3 + 2 * std::cos(2 * pi / 5)) / 5, 1e-6);
}

TEST(Mixing, OnePeerReachesTheMeanIfWorkersAreAPowerOfTwo) {
  for (int64_t workers : {1, 2, 4, 8, 16}) {
    auto rounds = getMixing(MixingKind::OnePeer, workers);
    EXPECT_EQ(rounds.size(),
              std::max<size_t>(size_t(std::log2(double(workers))), 1));
    EXPECT_NEAR(getContraction(rounds), 0, 1e-6);
  }
  EXPECT_GT(contract(MixingKind::OnePeer, 6), 0.1);
}

TEST(Mixing, NeighboursThatAreOneWorkerAreOneTerm) {
  MixingRound ring = getMixing(MixingKind::Ring, 2)[0];
  ASSERT_EQ(ring.size(), 2u);
  EXPECT_TRUE(ring[0].isOwn());
  EXPECT_EQ(ring[1].count, 2);
  EXPECT_EQ(ring[1].total, 3);
  EXPECT_EQ(getMixing(MixingKind::Ring, 1)[0].size(), 1u);
}
