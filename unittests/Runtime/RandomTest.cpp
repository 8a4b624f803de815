//===- RandomTest.cpp -----------------------------------------------------===//

#include "Core/Random.h"

#include <cmath>
#include <gtest/gtest.h>
#include <vector>

using namespace dtc::rt;

// The known answers for philox4x32-10 that Random123 publishes (kat_vectors).
TEST(Philox, KnownAnswers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}),
            (PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}),
            (PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                   {0xa4093822, 0x299f31d0}),
            (PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(RandomStream, NormalMoments) {
  std::vector<double> values(100001); // an odd count ends inside a block
  RandomStream(7, RandomUse::parameter, 3)
      .fillNormal(DTC_F64, values.data(), int64_t(values.size()), 2);
  double sum = 0, squares = 0;
  for (double value : values) {
    sum += value;
    squares += value * value;
  }
  double count = double(values.size());
  EXPECT_NEAR(sum / count, 0, 0.03);
  EXPECT_NEAR(squares / count, 4, 0.08);
}

TEST(RandomStream, FloatIsTheRoundedDouble) {
  std::vector<double> wide(1000);
  std::vector<float> narrow(1000);
  RandomStream stream(1, RandomUse::parameter, 0);
  stream.fillNormal(DTC_F64, wide.data(), 1000, 1);
  stream.fillNormal(DTC_F32, narrow.data(), 1000, 1);
  for (int i = 0; i < 1000; ++i)
    EXPECT_EQ(narrow[i], float(wide[i]));
}

TEST(RandomStream, IntegersCoverTheBound) {
  std::vector<int64_t> values(10001);
  RandomStream(1, RandomUse::input, 0)
      .fillIntegers(DTC_I64, values.data(), int64_t(values.size()), {10});
  std::vector<int> seen(10);
  for (int64_t value : values) {
    ASSERT_GE(value, 0);
    ASSERT_LT(value, 10);
    ++seen[size_t(value)];
  }
  for (int count : seen)
    EXPECT_NEAR(count, 1000, 150);
}

TEST(RandomStream, ElementsHaveBoundsOfTheirOwn) {
  std::vector<int32_t> values(3000);
  const std::vector<int64_t> bounds = {2, 3, 7};
  RandomStream(1, RandomUse::input, 0)
      .fillIntegers(DTC_I32, values.data(), int64_t(values.size()), bounds);
  std::vector<int32_t> largest(3);
  for (size_t i = 0; i < values.size(); ++i)
    largest[i % 3] = std::max(largest[i % 3], values[i]);
  EXPECT_EQ(largest, (std::vector<int32_t>{1, 2, 6}));
}

TEST(RandomStream, StreamsDiffer) {
  PhiloxBlock base = RandomStream(1, RandomUse::input, 2, 3).block(4);
  EXPECT_NE(base, RandomStream(2, RandomUse::input, 2, 3).block(4));
  EXPECT_NE(base, RandomStream(1, RandomUse::shuffle, 2, 3).block(4));
  EXPECT_NE(base, RandomStream(1, RandomUse::input, 3, 3).block(4));
  EXPECT_NE(base, RandomStream(1, RandomUse::input, 2, 4).block(4));
  EXPECT_NE(base, RandomStream(1, RandomUse::input, 2, 3).block(5));
}
