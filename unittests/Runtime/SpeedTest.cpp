//===- SpeedTest.cpp - MFU, and the table of kernels, by hand -------------===//

#include "Device/DeviceClock.h"
#include "Metrics/GradientNoise.h"
#include "Metrics/ModelSpeed.h"
#include "Metrics/OpTimes.h"
#include "Metrics/Trace.h"
#include "TestManifest.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace dtc::rt;

namespace {

/// Four ranks that compute 8 GFLOP per step.
Program makeProgram() {
  nlohmann::json manifest = validManifest();
  manifest["model_flops"] = 8'000'000'000;
  return readJson(manifest);
}

TEST(ModelSpeed, IsModelFlopsByTime) {
  Options options;
  ModelSpeed unknown(makeProgram(), options);
  EXPECT_DOUBLE_EQ(*unknown.flopsPerSecond(0.5), 16e9);
  EXPECT_DOUBLE_EQ(*unknown.flopsPerSecondOfRank(0.5), 4e9);
  EXPECT_FALSE(unknown.mfu(0.5));
  options.peakFlops = 10e9; // of each of four ranks
  EXPECT_DOUBLE_EQ(*ModelSpeed(makeProgram(), options).mfu(0.5), 0.4);
  ModelSpeed none(readJson(validManifest()), options);
  EXPECT_FALSE(none.flopsPerSecond(0.5));
  EXPECT_FALSE(none.flopsPerSecondOfRank(0.5));
  EXPECT_FALSE(none.mfu(0.5));
}

TEST(ModelSpeed, TakesThePeakThatIsGiven) {
  Program program = makeProgram();
  program.peakFlops = 20e9;
  Options options;
  EXPECT_DOUBLE_EQ(*ModelSpeed(program, options).mfu(0.5), 0.2);
  options.tf32 = true; // which the compiler's peak is not of
  EXPECT_FALSE(ModelSpeed(program, options).mfu(0.5));
  options.peakFlops = 40e9;
  EXPECT_DOUBLE_EQ(*ModelSpeed(program, options).mfu(0.5), 0.1);
}

const std::vector<OpInfo> ops = {
    {"kernel_relu", "/0/Relu", 1'000'000, 0},
    {"matmul(8x8,8x8) f32", "/0/Gemm", 20'000'000, 4},
    {"kernel_relu", "/1/Relu", 1'000'000, 0},
    {"kernel_copy", "/c", 0, 8'000'000},
    {"kernel_copy", "/c", 0, 8'000'000},
    {"kernel_unused", "/x", 1, 1}};

TEST(OpTimes, ATableHasARowForEachName) {
  // A step of 10 ms: 4 MFLOP in 1 + 3 ms, 20 MFLOP in 2 ms, 8 MB in 1 ms.
  std::vector<OpTime> times = {{2, 1e-3},     {1, 2e-3},     {2, 3e-3},
                               {0.5, 0.5e-3}, {0.5, 0.5e-3}, {0, 0}};
  std::string head =
      "kernels and library calls                           calls         ms   "
      "share  GFLOP/s     GB/s  node\n"
      "kernel_relu                                             4      4.000  "
      "40.0 %        1        -  /1/Relu and 1 more\n";
  std::string all =
      "all of them                                             6      7.000  "
      "70.0 %     3.43     1.14\n";
  EXPECT_EQ(describeOps(ops, times, 10e-3),
            head +
                "matmul(8x8,8x8) f32                                     1    "
                "  2.000  20.0 %       10    2e-06  /0/Gemm\n"
                "kernel_copy                                             1    "
                "  1.000  10.0 %        -        8  /c\n" +
                all);
  EXPECT_EQ(describeOps(ops, times, 10e-3, /*limit=*/1),
            head +
                "2 others                                                2    "
                "  3.000  30.0 %     6.67     2.67\n" +
                all);
  EXPECT_EQ(describeOps(ops, std::vector<OpTime>(6), 10e-3), "");
}

/// Each mark is 1 ms after the one before.
class SlowClock : public DeviceClock {
public:
  void begin() override {}
  int64_t mark() override { return marks++; }
  int64_t timeOf(int64_t mark) const override { return 1'000'000 * mark; }

private:
  int64_t marks = 0;
};

TEST(OpTimes, AddsUpStepsByTheClock) {
  nlohmann::json manifest = validManifest();
  manifest["mesh"][1]["size"] = 1;
  for (const char *name : {"a", "b"})
    manifest["ops"].push_back({{"name", name}, {"flops", 1}, {"bytes", 2}});
  Program program = readJson(manifest);
  OpTimes times(program, 4);
  SlowClock clock;
  auto run = [&](int op) {
    times.begin(op, clock.mark());
    times.end(clock.mark());
  };
  for (int step = 0; step < 2; ++step) {
    times.beginStep();
    run(0);
    run(1);
    run(1);
    times.endStep(&clock);
  }
  times.beginStep(); // not ended, so it does not count
  run(0);
  std::unique_ptr<Collectives> alone = makeSelfCollectives();
  std::vector<OpTime> means = times.gather(*alone, 2);
  ASSERT_EQ(means.size(), 2u);
  EXPECT_DOUBLE_EQ(means[0].calls, 1);
  EXPECT_DOUBLE_EQ(means[0].seconds, 1e-3);
  EXPECT_DOUBLE_EQ(means[1].calls, 2);
  EXPECT_DOUBLE_EQ(means[1].seconds, 2e-3);
}

TEST(NoiseScale, IsTheRatioOfMeans) {
  // |G| = 3, and the variance of a sample is 100: |G|^2 + 100 / B for B of 4
  // and 16.
  NoiseScale scale(4, 16);
  scale.add(9 + 25, 9 + 6.25);
  EXPECT_NEAR(scale.value(), 100 / 9., 1e-12);
  // |G| = 1 and variance 40. The first step now has the weight 0.99.
  scale.add(1 + 10, 1 + 2.5);
  EXPECT_NEAR(scale.value(), (0.99 * 100 + 40) / (0.99 * 9 + 1), 1e-12);
  // The gradient of the large batch is almost zero.
  NoiseScale lost(4, 16);
  lost.add(8, 1);
  EXPECT_TRUE(std::isnan(lost.value()));
}

} // namespace
