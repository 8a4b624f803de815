//===- MemoryPlannerTest.cpp ----------------------------------------------===//

#include "dtc/Memory/MemoryPlanner.h"

#include <gtest/gtest.h>
#include <random>

using namespace dtc;

static bool overlap(const MemoryBuffer &a, const MemoryBuffer &b) {
  bool together = a.begin <= b.end && b.begin <= a.end;
  return together && a.offset < b.offset + b.bytes &&
         b.offset < a.offset + a.bytes;
}

static void expectValid(const std::vector<MemoryBuffer> &buffers,
                        int64_t total) {
  for (size_t i = 0; i < buffers.size(); ++i) {
    EXPECT_GE(buffers[i].offset, 0);
    EXPECT_EQ(buffers[i].offset % memoryAlignment, 0);
    EXPECT_LE(buffers[i].offset + buffers[i].bytes, total);
    for (size_t j = 0; j < i; ++j)
      EXPECT_FALSE(overlap(buffers[i], buffers[j])) << i << " and " << j;
  }
}

TEST(MemoryPlanner, Nothing) {
  EXPECT_EQ(planMemory({}), 0);
  EXPECT_EQ(getPeakBytes({}), 0);
}

TEST(MemoryPlanner, SharesWhatDoesNotLiveTogether) {
  std::vector<MemoryBuffer> buffers = {{100, 0, 1}, {100, 1, 2}, {100, 2, 3}};
  EXPECT_EQ(planMemory(buffers), 256);
  expectValid(buffers, 256);
  EXPECT_EQ(buffers[0].offset, buffers[2].offset);
}

TEST(MemoryPlanner, TakesTheTightestGap) {
  // Two gaps, of 256 and 64 bytes, below buffers that live on.
  std::vector<MemoryBuffer> buffers = {{512, 0, 9}, {256, 0, 3}, {320, 0, 9},
                                       {64, 0, 3},  {128, 0, 9}, {64, 5, 9}};
  int64_t total = planMemory(buffers);
  expectValid(buffers, total);
  EXPECT_EQ(total, getPeakBytes(buffers));
}

TEST(MemoryPlanner, Adjacent) {
  std::vector<MemoryBuffer> buffers = {
      {100, 0, 2}, {640, 1, 3}, {40, 4, 6}, {64, 5, 5}};
  AdjacentBuffers group = {2, 0, 3};
  int64_t total = planMemory(buffers, group);
  expectValid(buffers, total);
  EXPECT_EQ(buffers[0].offset, buffers[2].offset + 64);
  EXPECT_EQ(buffers[3].offset, buffers[0].offset + 128);
}

TEST(MemoryPlanner, WorksAroundWhatHasAPlace) {
  // The small buffer stays, though the large one would come first.
  std::vector<MemoryBuffer> buffers = {
      {256, 0, 9}, {64, 0, 9, 128}, {128, 0, 9}, {64, 0, 9, 448}};
  int64_t total = planMemory(buffers);
  expectValid(buffers, total);
  EXPECT_EQ(buffers[1].offset, 128);
  EXPECT_EQ(buffers[3].offset, 448);
  EXPECT_EQ(buffers[0].offset, 192);
  EXPECT_EQ(buffers[2].offset, 0);
  EXPECT_EQ(total, 512);
}

// Lifetimes as in training: buffers that are made first are needed longest. All
// else is random.
TEST(MemoryPlanner, RandomBuffersNeverOverlap) {
  std::mt19937_64 random(1);
  auto draw = [&](int64_t low, int64_t high) {
    return low + int64_t(random() % uint64_t(high - low + 1));
  };
  for (int round = 0; round < 200; ++round) {
    SCOPED_TRACE(round);
    std::vector<MemoryBuffer> buffers;
    int64_t count = draw(1, 120), length = draw(1, 100);
    for (int64_t i = 0; i < count; ++i) {
      int64_t begin = draw(0, length);
      int64_t end = round % 2 ? draw(begin, length)
                              : std::max(begin, 2 * length - 2 * begin);
      buffers.push_back({draw(1, 1 << draw(0, 16)), begin, end});
    }
    std::vector<AdjacentBuffers> groups;
    unsigned next = 0;
    if (round % 4 == 3)
      while (next + 3 < buffers.size() && groups.size() < 3) {
        groups.push_back({next, next + 2, next + 1});
        next += 3;
      }
    int64_t total = planMemory(buffers, groups);
    expectValid(buffers, total);
    EXPECT_GE(total, getPeakBytes(buffers));
    // Greedy by size is a heuristic; the bound is far above all its results so
    // far.
    if (groups.empty()) {
      EXPECT_LE(total, getPeakBytes(buffers) * 5 / 4);
    }
    for (const AdjacentBuffers &group : groups)
      for (size_t i = 1; i < group.size(); ++i)
        EXPECT_EQ(buffers[group[i]].offset,
                  buffers[group[i - 1]].offset +
                      alignMemory(buffers[group[i - 1]].bytes));
  }
}
