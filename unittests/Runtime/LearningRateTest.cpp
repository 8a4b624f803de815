//===- LearningRateTest.cpp -----------------------------------------------===//

#include "Options/LearningRate.h"

#include "Expect.h"

#include <gtest/gtest.h>
#include <vector>

using namespace dtc::rt;

namespace {

struct Reference {
  LearningRateShape shape;
  std::optional<int64_t> warmup;
  std::optional<double> minimum;
  std::vector<double> rates;
};

const Reference references[] = {
#include "LearningRates.inc"
};

} // namespace

TEST(LearningRate, IsThatOfPyTorch) {
  for (const Reference &reference : references) {
    LearningRateSchedule schedule{reference.shape, 0.25,
                                  int64_t(reference.rates.size()),
                                  reference.warmup, reference.minimum};
    for (size_t i = 0; i < reference.rates.size(); ++i)
      EXPECT_NEAR(schedule.at(int64_t(i) + 1), reference.rates[i], 1e-15)
          << schedule.describe() << ", step " << i + 1;
  }
}

TEST(LearningRate, ConstantIsThePeak) {
  LearningRateSchedule schedule{LearningRateShape::constant, 0.1, 3, {}, {}};
  for (int64_t step : {1, 2, 3})
    EXPECT_EQ(schedule.at(step), 0.1);
}

TEST(LearningRate, OneStepIsANumber) {
  for (LearningRateShape shape :
       {LearningRateShape::constant, LearningRateShape::linear,
        LearningRateShape::cosine, LearningRateShape::oneCycle}) {
    LearningRateSchedule schedule{shape, 0.1, 1, {}, {}};
    schedule.check();
    EXPECT_GE(schedule.at(1), 0);
    EXPECT_LE(schedule.at(1), 0.1);
  }
  // The peak is the first step of a cycle that rises for one.
  LearningRateSchedule cycle{LearningRateShape::oneCycle, 0.1, 4, 1, {}};
  EXPECT_EQ(cycle.at(1), 0.1);
}

TEST(LearningRate, RefusesWhatDoesNotFit) {
  auto check = [](LearningRateShape shape, std::optional<int64_t> warmup,
                  std::optional<double> minimum) {
    LearningRateSchedule{shape, 0.1, 4, warmup, minimum}.check();
  };
  check(LearningRateShape::linear, 3, 0.01);
  EXPECT_ERROR(check(LearningRateShape::linear, 4, {}),
               "--warmup-steps is 4, expected fewer than the 4 --steps");
  EXPECT_ERROR(check(LearningRateShape::oneCycle, 0, {}),
               "--warmup-steps is 0, expected at least 1");
  EXPECT_ERROR(check(LearningRateShape::constant, {}, 0.01),
               "--min-lr has no meaning for --lr-schedule constant");
  EXPECT_ERROR(check(LearningRateShape::cosine, {}, 5),
               "--min-lr is 5, expected at most the learning rate, 0.1");
}
