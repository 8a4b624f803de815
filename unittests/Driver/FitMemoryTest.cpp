//===- FitMemoryTest.cpp - the search, on plans that are formulas ---------===//

#include "dtc/Driver/FitMemory.h"

#include <gtest/gtest.h>
#include <set>

using namespace dtc;

/// Data and tensor parallel: each rank of dp has 4 of the 8 samples.
static FitProblem makeProblem(int64_t limit) {
  FitProblem problem;
  problem.strategy.parallel.dp = 2;
  problem.strategy.parallel.tp = 2;
  problem.strategy.schedule.recompute = "none";
  problem.globalBatch = 8;
  problem.limit = limit;
  return problem;
}

TEST(FitMemory, PassesOverStepsThatSaveNothing) {
  // Recompute saves nothing, and there is no plan with --zero 2.
  auto getPeak = [](const Strategy &strategy) -> std::optional<int64_t> {
    const ParallelOptions &plan = strategy.parallel;
    if (plan.zero == 2)
      return std::nullopt;
    return 100 - 10 * plan.sp - 10 * plan.zero - 5 * (plan.microbatches > 1);
  };
  MemoryFit fit = fitMemory(makeProblem(60), getPeak);
  EXPECT_EQ(fit.printOptions(), "--sp --zero 3");
  EXPECT_EQ(fit.bytes, 60);
}

TEST(FitMemory, DropsWhatIsNotNeeded) {
  auto getPeak = [](const Strategy &strategy) -> std::optional<int64_t> {
    return 100 - 10 * strategy.parallel.sp - 30 * strategy.parallel.zero;
  };
  // --sp is tried first, but --zero 1 is enough.
  MemoryFit fit = fitMemory(makeProblem(75), getPeak);
  EXPECT_EQ(fit.printOptions(), "--zero 1");
  EXPECT_EQ(fit.bytes, 70);
  fit = fitMemory(makeProblem(69), getPeak);
  EXPECT_EQ(fit.printOptions(), "--sp --zero 1");
  EXPECT_EQ(fit.bytes, 60);
}

TEST(FitMemory, OffloadsOnGpusAtLast) {
  auto getPeak = [](const Strategy &strategy) -> std::optional<int64_t> {
    const std::string &offload = strategy.schedule.offload;
    return 100 - 10 * strategy.parallel.zero - 20 * (offload != "none") -
           20 * (offload == "parameters");
  };
  FitProblem problem = makeProblem(35);
  EXPECT_EQ(fitMemory(problem, getPeak).bytes, 70);
  problem.strategy.target.kind = "cuda";
  EXPECT_EQ(fitMemory(problem, getPeak).printOptions(),
            "--zero 3 --offload parameters");
  problem.limit = 55;
  EXPECT_EQ(fitMemory(problem, getPeak).printOptions(),
            "--zero 3 --offload state");
}

TEST(FitMemory, OneRankGathersFromTheHost) {
  auto getPeak = [](const Strategy &strategy) -> std::optional<int64_t> {
    const std::string &offload = strategy.schedule.offload;
    if (strategy.parallel.zero > 0 && offload != "parameters")
      return std::nullopt;
    return 100 - 20 * (offload != "none") - 20 * strategy.parallel.zero;
  };
  FitProblem problem = makeProblem(30);
  problem.strategy.target.kind = "cuda";
  problem.strategy.parallel.dp = 1;
  MemoryFit fit = fitMemory(problem, getPeak);
  EXPECT_EQ(fit.bytes, 20) << fit.printOptions();
}

TEST(FitMemory, KnowsHowManyPlansItTriesAtMost) {
  // The options --sp, --recompute twice, --zero 1 to 3, 2 and 4 micro-batches;
  // all together, and without each of the four options.
  EXPECT_EQ(countMostPlans(makeProblem(1)), 8u + 1 + 4);
  for (int64_t limit : {1, 60, 75}) {
    size_t plans = 0;
    fitMemory(makeProblem(limit), [&](const Strategy &strategy) {
      ++plans;
      return std::optional<int64_t>(100 - 10 * strategy.parallel.sp -
                                    10 * strategy.parallel.zero);
    });
    EXPECT_LE(plans, countMostPlans(makeProblem(limit)));
  }
}

TEST(FitMemory, ReportsTheLeastIfNoneFits) {
  auto getPeak = [](const Strategy &strategy) -> std::optional<int64_t> {
    const ParallelOptions &plan = strategy.parallel;
    return 100 - 10 * plan.sp - 10 * plan.zero - 5 * (plan.microbatches > 1);
  };
  MemoryFit fit = fitMemory(makeProblem(1), getPeak);
  EXPECT_EQ(fit.printOptions(), "--sp --zero 3 --microbatches 2");
  EXPECT_EQ(fit.bytes, 55);
}

TEST(FitMemory, TriesAllStepsTogether) {
  // Neither of the two saves anything alone.
  auto getPeak = [](const Strategy &strategy) -> std::optional<int64_t> {
    bool isLess = strategy.schedule.recompute == "all" &&
                  strategy.parallel.microbatches == 4;
    return isLess ? 40 : 100;
  };
  MemoryFit fit = fitMemory(makeProblem(50), getPeak);
  EXPECT_EQ(fit.printOptions(), "--recompute all --microbatches 4");
  EXPECT_EQ(fit.bytes, 40);
}

/// Returns the micro-batches of all plans that the search tries.
static std::set<int64_t> getMicrobatches(const FitProblem &problem) {
  std::set<int64_t> tried;
  fitMemory(problem, [&](const Strategy &strategy) {
    tried.insert(strategy.parallel.microbatches);
    return std::optional<int64_t>(100);
  });
  return tried;
}

TEST(FitMemory, KeepsMicrobatchesThatStatisticsDependOn) {
  FitProblem problem = makeProblem(1);
  EXPECT_EQ(getMicrobatches(problem), (std::set<int64_t>{1, 2, 4}));
  problem.hasBatchNorm = true;
  EXPECT_EQ(getMicrobatches(problem), (std::set<int64_t>{1}));
  problem.strategy.training.batchNorm = "frozen";
  EXPECT_EQ(getMicrobatches(problem), (std::set<int64_t>{1, 2, 4}));
  // So does a schedule of the user.
  problem.strategy.schedule.schedule = "mine.txt";
  EXPECT_EQ(getMicrobatches(problem), (std::set<int64_t>{1}));
}

TEST(FitMemory, ChangesTheScheduleFirst) {
  auto getPeak = [](const Strategy &strategy) -> std::optional<int64_t> {
    return strategy.schedule.schedule == "gpipe" ? 100 : 50;
  };
  FitProblem problem = makeProblem(60);
  problem.strategy.parallel.pp = 2;
  problem.strategy.schedule.schedule = "gpipe";
  EXPECT_EQ(fitMemory(problem, getPeak).printOptions(), "--schedule 1f1b");
  problem.strategy.schedule.virtualStages = 2;
  EXPECT_EQ(fitMemory(problem, getPeak).printOptions(),
            "--schedule interleaved");
}

TEST(FitMemory, SplitsOnlyWithinReplicasThatTrainApart) {
  auto getPeak = [](const Strategy &strategy) -> std::optional<int64_t> {
    return 100 - 10 * strategy.parallel.zero -
           20 * (strategy.schedule.offload == "parameters");
  };
  FitProblem problem = makeProblem(75);
  problem.strategy.parallel.sync = "every:4";
  problem.strategy.target.kind = "cuda";
  EXPECT_EQ(fitMemory(problem, getPeak).bytes, 100);
  problem.strategy.parallel.dp = 4;
  problem.strategy.parallel.hsdp = 2;
  problem.strategy.parallel.zero = 1;
  EXPECT_EQ(fitMemory(problem, getPeak).printOptions(), "--zero 3");
}
