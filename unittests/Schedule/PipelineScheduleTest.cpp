//===- PipelineScheduleTest.cpp -------------------------------------------===//

#include "dtc/Schedule/Order/NamedSchedules.h"
#include "dtc/Schedule/Order/Simulation.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <string>

using namespace dtc;

/// "F0 F1 B0 W0 ...".
static std::string print(const std::vector<Task> &tasks) {
  std::string text;
  for (const Task &task : tasks)
    text += (text.empty() ? "" : " ") + printTask(task);
  return text;
}

static PipelineSchedule make(const char *name, int64_t stages, int64_t batches,
                             int64_t rounds = 1, int64_t chunks = 1) {
  return llvm::cantFail(
      makeNamedSchedule(name, {stages, batches, rounds, chunks}));
}

static std::string getError(const char *name, const Pipeline &pipeline) {
  return llvm::toString(makeNamedSchedule(name, pipeline).takeError());
}

TEST(PipelineSchedule, GPipe) {
  PipelineSchedule schedule = make("gpipe", 2, 3);
  ASSERT_EQ(schedule.size(), 2u);
  EXPECT_EQ(print(schedule[0]), "F0 F1 F2 B0 W0 B1 W1 B2 W2");
  EXPECT_EQ(print(schedule[1]), "F0 F1 F2 B0 W0 B1 W1 B2 W2");
}

TEST(PipelineSchedule, OneForwardOneBackward) {
  PipelineSchedule schedule = make("1f1b", 3, 4);
  EXPECT_EQ(print(schedule[0]), "F0 F1 F2 B0 W0 F3 B1 W1 B2 W2 B3 W3");
  EXPECT_EQ(print(schedule[1]), "F0 F1 B0 W0 F2 B1 W1 F3 B2 W2 B3 W3");
  EXPECT_EQ(print(schedule[2]), "F0 B0 W0 F1 B1 W1 F2 B2 W2 F3 B3 W3");
}

TEST(PipelineSchedule, ZeroBubbleH1) {
  PipelineSchedule schedule = make("zb-h1", 3, 4);
  EXPECT_EQ(print(schedule[0]), "F0 F1 F2 B0 W0 F3 B1 W1 B2 W2 B3 W3");
  EXPECT_EQ(print(schedule[1]), "F0 F1 B0 F2 B1 W0 F3 B2 W1 B3 W2 W3");
  EXPECT_EQ(print(schedule[2]), "F0 B0 F1 B1 F2 B2 W0 F3 B3 W1 W2 W3");
  // The schedule of the drawing.
  auto simulation = simulate(schedule, std::vector<StageCost>(3, {1, 1, 1}));
  ASSERT_TRUE(simulation.has_value());
  using Starts = std::vector<double>;
  EXPECT_EQ(simulation->starts[0],
            (Starts{0, 1, 2, 5, 6, 7, 8, 9, 10, 11, 12, 13}));
  EXPECT_EQ(simulation->starts[1],
            (Starts{1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}));
  EXPECT_EQ(simulation->starts[2],
            (Starts{2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}));
  EXPECT_EQ(simulation->makespan, 14);
}

TEST(PipelineSchedule, Rounds) {
  PipelineSchedule schedule = make("gpipe", 2, 2, 2);
  EXPECT_EQ(print(schedule[0]), "F0 F1 B0 W0 B1 W1 F2 F3 B2 W2 B3 W3");
  EXPECT_EQ(print(schedule[1]), "F0 F1 B0 W0 B1 W1 F2 F3 B2 W2 B3 W3");
  schedule = make("1f1b", 2, 2, 3);
  EXPECT_EQ(print(schedule[0]),
            "F0 F1 B0 W0 B1 W1 F2 F3 B2 W2 B3 W3 F4 F5 B4 W4 B5 W5");
  EXPECT_EQ(print(schedule[1]),
            "F0 B0 W0 F1 B1 W1 F2 B2 W2 F3 B3 W3 F4 B4 W4 F5 B5 W5");
}

TEST(PipelineSchedule, Names) {
  EXPECT_FALSE(isNamedSchedule("zigzag"));
  llvm::SmallVector<llvm::StringRef> names;
  llvm::StringRef(scheduleNames).split(names, ", ");
  EXPECT_EQ(names.size(), 4u);
  for (llvm::StringRef name : names)
    EXPECT_TRUE(isNamedSchedule(name)) << name.str();
}

// The schedules of the drawings.
TEST(PipelineSchedule, Chunks) {
  PipelineSchedule schedule = make("gpipe", 2, 2, 1, 2);
  const char *both = "F0 F1 F0.1 F1.1 B0.1 W0.1 B1.1 W1.1 B0 W0 B1 W1";
  EXPECT_EQ(print(schedule[0]), both);
  EXPECT_EQ(print(schedule[1]), both);
  schedule = make("interleaved", 2, 2, 1, 2);
  EXPECT_EQ(print(schedule[0]), both);
  EXPECT_EQ(print(schedule[1]),
            "F0 F1 F0.1 B0.1 W0.1 F1.1 B1.1 W1.1 B0 W0 B1 W1");
  // Groups have as many micro-batches as there are stages.
  EXPECT_EQ(print(make("interleaved", 2, 4, 1, 2)[1]),
            "F0 F1 F0.1 B0.1 W0.1 F1.1 B1.1 W1.1 F2 B0 W0 F3 B1 W1 "
            "F2.1 B2.1 W2.1 F3.1 B3.1 W3.1 B2 W2 B3 W3");
  EXPECT_EQ(make("interleaved", 3, 4), make("1f1b", 3, 4));
}

TEST(PipelineSchedule, ImpossibleChunks) {
  EXPECT_EQ(getError("1f1b", {2, 4, 1, 2}),
            "schedule '1f1b' has one virtual stage a stage, not 2; use "
            "--schedule interleaved or gpipe");
  EXPECT_EQ(getError("interleaved", {4, 6, 1, 2}),
            "schedule 'interleaved' takes micro-batches in groups of --pp: 6 "
            "found, expected a multiple of 4");
}

// Includes fewer micro-batches than stages: a chunk then waits for the first of
// them to come around.
TEST(PipelineSchedule, GPipeOfChunksHasTheAnalyticBubble) {
  for (int64_t stages = 2; stages <= 5; ++stages)
    for (int64_t chunks = 1; chunks <= 4; ++chunks)
      for (int64_t batches = 1; batches <= 7; ++batches) {
        SCOPED_TRACE(testing::Message() << stages << " stages, " << chunks
                                        << " chunks, " << batches);
        PipelineSchedule schedule = make("gpipe", stages, batches, 1, chunks);
        std::vector<StageCost> costs(stages * chunks, StageCost{1, 2, 0});
        EXPECT_NEAR(simulate(schedule, costs)->bubble,
                    getBubbleFraction("gpipe", {stages, batches, 1, chunks}),
                    1e-12);
      }
}

// The published idle fraction, with a backward pass of one task, and the most
// activations of the first stage: 2 (K - 1) + (V - 1) K + 1.
TEST(PipelineSchedule, InterleavedHasTheAnalyticBubble) {
  for (int64_t stages = 2; stages <= 6; ++stages)
    for (int64_t chunks = 2; chunks <= 4; ++chunks)
      for (int64_t groups = 1; groups <= 4; ++groups) {
        int64_t batches = groups * stages;
        SCOPED_TRACE(testing::Message() << stages << " stages, " << chunks
                                        << " chunks, " << batches);
        PipelineSchedule schedule =
            make("interleaved", stages, batches, 1, chunks);
        for (const std::vector<Task> &tasks : schedule) {
          EXPECT_EQ(tasks.size(), size_t(3 * batches * chunks));
          for (const Task &task : tasks)
            EXPECT_EQ(std::count(tasks.begin(), tasks.end(), task), 1);
        }
        EXPECT_TRUE(canAwaitLast(schedule, TaskKind::B, chunks));
        std::vector<StageCost> costs(stages * chunks, StageCost{1, 2, 0});
        std::optional<Simulation> simulation = simulate(schedule, costs);
        ASSERT_TRUE(simulation.has_value());
        double expected = double(stages - 1) / (chunks * batches + stages - 1);
        EXPECT_NEAR(simulation->bubble, expected, 1e-12);
        EXPECT_EQ(
            getBubbleFraction("interleaved", {stages, batches, 1, chunks}),
            expected);
        EXPECT_EQ(getMaxInFlight(schedule[0]),
                  std::min(batches * chunks,
                           2 * (stages - 1) + (chunks - 1) * stages + 1));
        // Looping over chunks has as small a bubble, with all activations.
        schedule = make("gpipe", stages, batches, 1, chunks);
        EXPECT_NEAR(simulate(schedule, costs)->bubble, expected, 1e-12);
        EXPECT_EQ(getMaxInFlight(schedule[0]), batches * chunks);
      }
}

TEST(PipelineSchedule, CyclicPrecedence) {
  auto everything = [](const PipelineStage &, const Task &, const Task &) {
    return true;
  };
  EXPECT_FALSE(makeSchedule({1, 2}, everything).has_value());
}

// More stages than micro-batches and fewer, including one of each.
class EverySize : public testing::TestWithParam<const char *> {};
INSTANTIATE_TEST_SUITE_P(PipelineSchedule, EverySize,
                         testing::Values("gpipe", "1f1b"));

TEST_P(EverySize, RunsEverythingOnceWithTheAnalyticBubble) {
  for (int64_t stages = 1; stages <= 6; ++stages)
    for (int64_t batches = 1; batches <= 9; ++batches) {
      SCOPED_TRACE(testing::Message() << stages << " stages, " << batches);
      PipelineSchedule schedule = make(GetParam(), stages, batches);
      for (const std::vector<Task> &tasks : schedule) {
        EXPECT_EQ(tasks.size(), size_t(3 * batches));
        for (const Task &task : tasks)
          EXPECT_EQ(std::count(tasks.begin(), tasks.end(), task), 1);
      }
      // Equal stages whose whole backward pass is one task.
      std::vector<StageCost> costs(stages, StageCost{1, 2, 0});
      std::optional<Simulation> simulation = simulate(schedule, costs);
      ASSERT_TRUE(simulation.has_value());
      EXPECT_DOUBLE_EQ(simulation->makespan, 3.0 * (batches + stages - 1));
      EXPECT_NEAR(simulation->bubble,
                  getBubbleFraction(GetParam(), {stages, batches}), 1e-12);
      // A stage need not wait for the weight gradients of the next.
      costs.assign(stages, StageCost{1, 1, 1});
      EXPECT_LE(simulate(schedule, costs)->bubble,
                getBubbleFraction(GetParam(), {stages, batches}) + 1e-12);
    }
}

// Every task once, F before B before W, and the published fraction for equal F,
// B and W (M >= K). Below M = K, the idle time follows from the first
// micro-batch's way through the pipeline: 2 K + 2 M - 1 tasks long.
TEST(PipelineSchedule, ZeroBubbleH1HasTheAnalyticBubble) {
  for (int64_t stages = 1; stages <= 8; ++stages)
    for (int64_t batches = 1; batches <= 17; ++batches) {
      SCOPED_TRACE(testing::Message() << stages << " stages, " << batches);
      PipelineSchedule schedule = make("zb-h1", stages, batches);
      for (const std::vector<Task> &tasks : schedule) {
        ASSERT_EQ(tasks.size(), size_t(3 * batches));
        auto find = [&](TaskKind kind, int64_t microbatch) {
          return std::find(tasks.begin(), tasks.end(), Task{kind, microbatch});
        };
        for (int64_t m = 0; m < batches; ++m) {
          EXPECT_LT(find(TaskKind::F, m), find(TaskKind::B, m));
          EXPECT_LT(find(TaskKind::B, m), find(TaskKind::W, m));
          EXPECT_LT(find(TaskKind::W, m), tasks.end());
        }
      }
      std::vector<StageCost> costs(stages, StageCost{1, 1, 1});
      std::optional<Simulation> simulation = simulate(schedule, costs);
      ASSERT_TRUE(simulation.has_value());
      if (batches >= stages) {
        EXPECT_EQ(simulation->makespan, 3 * batches + stages - 1);
        EXPECT_NEAR(simulation->bubble,
                    double(stages - 1) / (3 * batches + stages - 1), 1e-12);
      } else {
        EXPECT_EQ(simulation->makespan, 2 * batches + 2 * stages - 1);
      }
      EXPECT_NEAR(simulation->bubble,
                  getBubbleFraction("zb-h1", {stages, batches}), 1e-12);
      // Never slower than 1F1B with the same costs.
      EXPECT_LE(simulation->makespan,
                simulate(make("1f1b", stages, batches), costs)->makespan);
    }
}

// The times of all tasks respect messages and stages.
TEST(PipelineSchedule, SimulationKeepsDependencies) {
  for (const char *name : {"gpipe", "1f1b", "zb-h1"}) {
    SCOPED_TRACE(name);
    PipelineSchedule schedule = make(name, 4, 7, 2);
    std::vector<StageCost> costs = {{2, 3, 1}, {1, 1, 5}, {4, 2, 2}, {1, 2, 3}};
    std::optional<Simulation> simulation = simulate(schedule, costs);
    ASSERT_TRUE(simulation.has_value());
    auto getStart = [&](int64_t stage, TaskKind kind, int64_t microbatch) {
      const std::vector<Task> &tasks = schedule[stage];
      auto found =
          std::find(tasks.begin(), tasks.end(), Task{kind, microbatch});
      return simulation->starts[stage][found - tasks.begin()];
    };
    for (int64_t stage = 0; stage < 4; ++stage)
      for (int64_t m = 0; m < 14; ++m) {
        double forward = getStart(stage, TaskKind::F, m);
        double backward = getStart(stage, TaskKind::B, m);
        EXPECT_GE(backward, forward + costs[stage].forward);
        EXPECT_GE(getStart(stage, TaskKind::W, m),
                  backward + costs[stage].backward);
        if (stage > 0) {
          EXPECT_GE(forward, getStart(stage - 1, TaskKind::F, m) +
                                 costs[stage - 1].forward);
          EXPECT_GE(getStart(stage - 1, TaskKind::B, m),
                    backward + costs[stage].backward);
        }
      }
  }
}

TEST_P(EverySize, RoundsFollowEachOther) {
  for (int64_t stages = 1; stages <= 4; ++stages)
    for (int64_t batches = 1; batches <= 4; ++batches)
      for (int64_t rounds = 1; rounds <= 4; ++rounds) {
        SCOPED_TRACE(testing::Message()
                     << stages << " stages, " << batches << " x " << rounds);
        PipelineSchedule one = make(GetParam(), stages, batches);
        PipelineSchedule all = make(GetParam(), stages, batches, rounds);
        for (int64_t stage = 0; stage < stages; ++stage) {
          EXPECT_EQ(all[stage].size(), size_t(3 * batches * rounds));
          for (const Task &task : all[stage])
            EXPECT_EQ(std::count(all[stage].begin(), all[stage].end(), task),
                      1);
          // For any length of the step, activations are those of a round.
          EXPECT_EQ(getMaxInFlight(all[stage]), getMaxInFlight(one[stage]));
          EXPECT_LE(getMaxInFlight(all[stage]), batches);
        }
        // The first stage begins and ends each round, so times add up.
        std::vector<StageCost> costs(stages, StageCost{1, 2, 0});
        std::optional<Simulation> simulation = simulate(all, costs);
        ASSERT_TRUE(simulation.has_value());
        EXPECT_DOUBLE_EQ(simulation->makespan,
                         3.0 * (batches + stages - 1) * rounds);
        EXPECT_NEAR(simulation->bubble,
                    getBubbleFraction(GetParam(), {stages, batches}), 1e-12);
      }
}

TEST(PipelineSchedule, InFlight) {
  for (int64_t stages = 1; stages <= 6; ++stages)
    for (int64_t batches = 1; batches <= 9; ++batches)
      for (int64_t stage = 0; stage < stages; ++stage) {
        EXPECT_EQ(getMaxInFlight(make("gpipe", stages, batches)[stage]),
                  batches);
        EXPECT_EQ(getMaxInFlight(make("1f1b", stages, batches)[stage]),
                  std::min(batches, stages - stage));
        // The value of 1F1B's first stage, on all stages.
        EXPECT_EQ(getMaxInFlight(make("zb-h1", stages, batches)[stage]),
                  std::min(batches, stages));
      }
}

TEST(PipelineSchedule, BubbleFraction) {
  EXPECT_EQ(getBubbleFraction("1f1b", {1, 8}), 0);
  EXPECT_EQ(getBubbleFraction("1f1b", {4, 1}), 0.75);
  EXPECT_EQ(getBubbleFraction("1f1b", {4, 9}), 0.25);
  EXPECT_EQ(getBubbleFraction("zb-h1", {1, 8}), 0);
  EXPECT_EQ(getBubbleFraction("zb-h1", {4, 4}), 0.2);
  EXPECT_EQ(getBubbleFraction("zb-h1", {4, 9}), 0.1);
}

TEST(PipelineSchedule, SimulationFindsDeadlock) {
  // The first stage wants the gradient before it has sent the activation.
  PipelineSchedule schedule = {
      {{TaskKind::B, 0}, {TaskKind::F, 0}, {TaskKind::W, 0}},
      {{TaskKind::F, 0}, {TaskKind::B, 0}, {TaskKind::W, 0}}};
  std::vector<StageCost> costs(2, StageCost{1, 1, 1});
  EXPECT_FALSE(simulate(schedule, costs).has_value());
  std::optional<Deadlock> deadlock = findDeadlock(schedule);
  ASSERT_TRUE(deadlock.has_value());
  ASSERT_EQ(deadlock->cycle.size(), 2u);
  EXPECT_EQ(deadlock->cycle[0].stage, 0);
  EXPECT_EQ(deadlock->cycle[0].task, (Task{TaskKind::B, 0}));
  EXPECT_EQ(deadlock->cycle[1].stage, 1);
  EXPECT_EQ(deadlock->cycle[1].task, (Task{TaskKind::F, 0}));
  EXPECT_FALSE(findDeadlock(make("zb-h1", 4, 8)).has_value());
}

// Around the pipeline: the first stage runs its chunks in the wrong order, and
// waits for the last one, which waits for it.
TEST(PipelineSchedule, FindsDeadlockOfChunks) {
  PipelineSchedule schedule = make("gpipe", 3, 1, 1, 2);
  EXPECT_FALSE(findDeadlock(schedule, 2).has_value());
  std::swap(schedule[0][0], schedule[0][1]);
  std::optional<Deadlock> deadlock = findDeadlock(schedule, 2);
  ASSERT_TRUE(deadlock.has_value());
  ASSERT_EQ(deadlock->cycle.size(), 3u);
  EXPECT_EQ(deadlock->cycle[0].task, (Task{TaskKind::F, 0, 1}));
  EXPECT_EQ(deadlock->cycle[1].stage, 2);
  EXPECT_EQ(deadlock->cycle[1].task, (Task{TaskKind::F, 0, 0}));
  EXPECT_EQ(deadlock->cycle[2].stage, 1);
}

TEST(PipelineSchedule, AwaitLast) {
  PipelineSchedule schedule = make("zb-h1", 4, 8, 2);
  EXPECT_TRUE(canAwaitLast(schedule, TaskKind::F));
  EXPECT_TRUE(canAwaitLast(schedule, TaskKind::B));
  // W takes part in no message.
  std::swap(schedule[1].back(), schedule[1][schedule[1].size() - 2]);
  EXPECT_TRUE(canAwaitLast(schedule, TaskKind::B));
  std::swap(schedule[0][0], schedule[0][1]);
  EXPECT_FALSE(canAwaitLast(schedule, TaskKind::F));
  EXPECT_TRUE(canAwaitLast(schedule, TaskKind::B));
  // Gradients of the second chunk go to a stage that first makes all of its
  // own. The stage receives them after most of them have been sent.
  EXPECT_FALSE(canAwaitLast(make("gpipe", 2, 4, 1, 2), TaskKind::B, 2));
  EXPECT_TRUE(canAwaitLast(make("gpipe", 2, 3, 1, 2), TaskKind::B, 2));
}

TEST(PipelineSchedule, SlowestStageDecides) {
  PipelineSchedule schedule = make("1f1b", 2, 100);
  std::vector<StageCost> costs = {{1, 1, 1}, {2, 2, 2}};
  std::optional<Simulation> simulation = simulate(schedule, costs);
  ASSERT_TRUE(simulation.has_value());
  EXPECT_NEAR(simulation->makespan, 600, 10);
  EXPECT_NEAR(simulation->bubble, 0.25, 0.01);
}
