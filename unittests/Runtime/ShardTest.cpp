//===- ShardTest.cpp - the part of a tensor on one rank -------------------===//

#include "Program/Shard.h"

#include <gtest/gtest.h>
#include <tuple>

using namespace dtc::rt;

namespace {

using Stretch = std::tuple<int64_t, int64_t, int64_t>;

std::vector<Stretch> runsOf(const std::vector<int64_t> &tensor,
                            const Box &box) {
  std::vector<Stretch> runs;
  forEachRun(tensor, box, [&](int64_t from, int64_t to, int64_t count) {
    runs.push_back({from, to, count});
  });
  return runs;
}

} // namespace

TEST(Shard, AWholeTensorIsOneRun) {
  EXPECT_EQ(runsOf({4, 6}, {{0, 0}, {4, 6}}),
            (std::vector<Stretch>{{0, 0, 24}}));
  EXPECT_EQ(runsOf({}, {{}, {}}), (std::vector<Stretch>{{0, 0, 1}}));
}

TEST(Shard, RowsAreOneRun) {
  EXPECT_EQ(runsOf({4, 6}, {{1, 0}, {2, 6}}),
            (std::vector<Stretch>{{6, 0, 12}}));
}

TEST(Shard, ColumnsAreARunEach) {
  EXPECT_EQ(runsOf({2, 6}, {{0, 4}, {2, 2}}),
            (std::vector<Stretch>{{4, 0, 2}, {10, 2, 2}}));
  EXPECT_EQ(runsOf({2, 2, 3}, {{0, 1, 0}, {2, 1, 3}}),
            (std::vector<Stretch>{{3, 0, 3}, {9, 3, 3}}));
}

/// The last part of five rows and of five columns, and one that is all padding.
TEST(Shard, PaddingIsInNoRun) {
  EXPECT_EQ(runsOf({5, 2}, {{3, 0}, {3, 2}}),
            (std::vector<Stretch>{{6, 0, 4}}));
  EXPECT_EQ(runsOf({3, 5}, {{0, 4}, {3, 4}}),
            (std::vector<Stretch>{{4, 0, 1}, {9, 4, 1}, {14, 8, 1}}));
  EXPECT_EQ(runsOf({5, 2}, {{6, 0}, {2, 2}}), std::vector<Stretch>{});
}

/// The second of three parts of a fused weight, with its columns split over two
/// ranks: the parts of [8, 12] have 4 columns.
TEST(Shard, APartIsSplitWithinItself) {
  Mesh mesh{{{"dp", 2}, {"tp", 2}}};
  ParameterInfo parameter{};
  parameter.shape = {8, 4};
  parameter.splits = {{1, 1}};
  parameter.tensorShape = {8, 12};
  parameter.start = {0, 4};
  parameter.dtype = DTC_F32;
  EXPECT_EQ(parameter.bytes(mesh), 8 * 2 * 4);
  for (int rank = 0; rank < 4; ++rank) {
    Box box = boxOf(parameter, mesh, rank);
    EXPECT_EQ(box.start, (std::vector<int64_t>{0, 4 + 2 * (rank % 2)}));
    EXPECT_EQ(box.size, (std::vector<int64_t>{8, 2}));
  }
}

TEST(Shard, AxesSplitADimensionMajorToMinor) {
  Mesh mesh{{{"dp", 2}, {"tp", 3}}};
  ParameterInfo parameter{};
  parameter.shape = {12};
  parameter.splits = {{1, 0}, {0, 0}}; // tp, then dp
  parameter.tensorShape = {12};
  parameter.start = {0};
  // Rank 4 has dp 1, tp 1: the second half of the second third.
  Box box = boxOf(parameter, mesh, 4);
  EXPECT_EQ(box.start, (std::vector<int64_t>{6}));
  EXPECT_EQ(box.size, (std::vector<int64_t>{2}));
}

/// A row of 8 elements over two ranks: 2 elements of another parameter, 4 of a
/// parameter whose columns tp splits, and padding.
TEST(Shard, APieceIsWhatARankHoldsOfARow) {
  Mesh mesh{{{"dp", 2}, {"tp", 2}}};
  ParameterInfo parameter{};
  parameter.dtype = DTC_F32;
  parameter.shape = parameter.tensorShape = {4, 2};
  parameter.start = {0, 0};
  parameter.splits = {{1, 1}};
  Stage::Place place{64, Stage::Place::Shard{{0}, 2, 8}};
  auto runs = [&](int rank) {
    std::vector<Stretch> list;
    forEachRun(parameter.tensorShape, pieceOf(parameter, place, mesh, rank),
               [&](int64_t inTensor, int64_t inPiece, int64_t count) {
                 list.push_back({inTensor, inPiece, count});
               });
    return list;
  };
  EXPECT_EQ(pieceOf(parameter, place, mesh, 0).offset, 64 + 2 * 4);
  EXPECT_EQ(runs(0), (std::vector<Stretch>{{0, 0, 1}, {2, 1, 1}}));
  EXPECT_EQ(pieceOf(parameter, place, mesh, 3).offset, 64);
  EXPECT_EQ(runs(3), (std::vector<Stretch>{{5, 0, 1}, {7, 1, 1}}));

  // The first rank has all of it, and the other rank nothing.
  place.shard->length = 12;
  EXPECT_EQ(pieceOf(parameter, place, mesh, 1).count, 4);
  EXPECT_EQ(pieceOf(parameter, place, mesh, 2).count, 0);
}
