//===- ShuffleTest.cpp ----------------------------------------------------===//

#include "Data/Shuffle.h"

#include <gtest/gtest.h>
#include <vector>

using namespace dtc::rt;

TEST(Permutation, EveryIndexOnce) {
  for (int64_t size : {1, 2, 3, 4, 5, 17, 64, 1000, 4097}) {
    std::vector<int> seen(size_t(size), 0);
    Permutation permutation(size, 42, 0);
    for (int64_t i = 0; i < size; ++i) {
      ASSERT_LT(permutation[i], size);
      ++seen[size_t(permutation[i])];
    }
    EXPECT_EQ(seen, std::vector<int>(size_t(size), 1));
  }
}

TEST(Permutation, MovesMostAndDependsOnSeedAndEpoch) {
  int fixed = 0, sameSeed = 0, sameEpoch = 0;
  Permutation first(1000, 1, 0), otherSeed(1000, 2, 0), otherEpoch(1000, 1, 1);
  for (int64_t i = 0; i < 1000; ++i) {
    fixed += first[i] == i;
    sameSeed += first[i] == otherSeed[i];
    sameEpoch += first[i] == otherEpoch[i];
  }
  EXPECT_LT(fixed, 10);
  EXPECT_LT(sameSeed, 10);
  EXPECT_LT(sameEpoch, 10);
}

/// The samples of an epoch in the order in which the ranks of a plan load them:
/// by step, then by row of the global batch.
static std::vector<int64_t> loadEpoch(int64_t samples, int64_t batch,
                                      int64_t ranks, int64_t microbatches) {
  SampleOrder order(samples, batch, 3, true);
  RowPartition partition{microbatches, ranks, batch / (microbatches * ranks)};
  std::vector<int64_t> loaded(size_t(order.stepsPerEpoch() * batch), -1);
  for (int64_t step = 0; step < order.stepsPerEpoch(); ++step)
    for (int64_t rank = 0; rank < ranks; ++rank)
      for (int64_t local = 0; local < partition.localRows(); ++local) {
        int64_t row = partition.globalRow(rank, local);
        int64_t &slot = loaded[size_t(step * batch + row)];
        EXPECT_EQ(slot, -1) << "row loaded twice";
        slot = order.sample(step, row);
      }
  return loaded;
}

TEST(EvaluationOrder, EverySampleWeighsTheSame) {
  for (int64_t batch : {1, 2, 7, 12, 32})
    for (int64_t samples : {1, 5, 17, 31, 32, 33, 113}) {
      EvaluationOrder order(samples, batch);
      std::vector<double> weights(size_t(samples), 0);
      for (int64_t run = 0; run < order.runs(); ++run)
        for (int64_t row = 0; row < batch; ++row) {
          if (row < order.run(run).samples) {
            EXPECT_EQ(order.sample(run, row), order.run(run).first + row);
          }
          weights[size_t(order.sample(run, row))] +=
              double(order.run(run).samples) / double(batch);
        }
      for (double weight : weights)
        EXPECT_DOUBLE_EQ(weight, 1);
    }
  EXPECT_EQ(EvaluationOrder(113, 32).runs(), 5); // 3 x 32, 16, 1
}

TEST(SampleOrder, EveryPlanLoadsTheSameBatchesAndEverySampleOnce) {
  std::vector<int64_t> reference = loadEpoch(500, 32, 1, 1);
  std::vector<int> seen(500);
  for (int64_t sample : reference)
    ++seen[size_t(sample)];
  for (int count : seen)
    EXPECT_LE(count, 1);
  EXPECT_EQ(reference.size(), 480u); // 20 samples do not fill a batch
  for (int64_t ranks : {1, 2, 4, 8})
    for (int64_t microbatches : {1, 2, 4})
      EXPECT_EQ(loadEpoch(500, 32, ranks, microbatches), reference);
}

TEST(SampleOrder, EpochsDifferAndFilesKeepTheirOrder) {
  SampleOrder shuffled(64, 32, 3, true), plain(64, 32, 3, false);
  int same = 0;
  for (int64_t row = 0; row < 32; ++row) {
    same += shuffled.sample(0, row) == shuffled.sample(2, row);
    EXPECT_EQ(plain.sample(1, row), 32 + row);
    EXPECT_EQ(plain.sample(2, row), row);
  }
  EXPECT_LT(same, 8);
}

TEST(RowPartition, BlocksAreOrderedByMicrobatchThenRank) {
  RowPartition partition{2, 4, 3};
  EXPECT_EQ(partition.globalRow(0, 0), 0);
  EXPECT_EQ(partition.globalRow(1, 0), 3);
  EXPECT_EQ(partition.globalRow(3, 2), 11);
  EXPECT_EQ(partition.globalRow(0, 3), 12);
  EXPECT_EQ(partition.globalRow(2, 5), 20);
}

TEST(RowPartition, BatchesOfWorkersFollowEachOther) {
  // Two workers of two ranks, each of two micro-batches of three rows.
  RowPartition partition{2, 4, 3, 2};
  EXPECT_EQ(partition.globalRow(0, 0), 0);
  EXPECT_EQ(partition.globalRow(1, 0), 3);
  EXPECT_EQ(partition.globalRow(0, 3), 6);
  EXPECT_EQ(partition.globalRow(2, 0), 12);
  EXPECT_EQ(partition.globalRow(3, 5), 23);
}
