//===- PipelineScheduleTest.cpp -------------------------------------------===//

#include "dtc/Schedule/PipelineSchedule.h"

#include <gtest/gtest.h>
#include <string>

using namespace dtc;

/// "F0 F1 B0 W0 ...".
static std::string print(const std::vector<Task> &tasks) {
  std::string text;
  for (const Task &task : tasks)
    text += (text.empty() ? "" : " ") +
            std::string(1, "FBW"[static_cast<int>(task.kind)]) +
            std::to_string(task.microbatch);
  return text;
}

static PipelineSchedule make(const char *name, int64_t stages, int64_t batches,
                             int64_t rounds = 1) {
  auto schedule = makeNamedSchedule(name, stages, batches, rounds);
  EXPECT_TRUE(schedule.has_value());
  return *schedule;
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

TEST(PipelineSchedule, UnknownName) {
  EXPECT_FALSE(makeNamedSchedule("zigzag", 2, 2, 2).has_value());
}

TEST(PipelineSchedule, CyclicPrecedence) {
  auto everything = [](const PipelineStage &, const Task &, const Task &) {
    return true;
  };
  EXPECT_FALSE(makeSchedule(1, 2, everything).has_value());
}

// More stages than micro-batches and fewer, one of each included.
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
      EXPECT_NEAR(simulation->bubble, getBubbleFraction(stages, batches),
                  1e-12);
      // A stage need not wait for the weight gradients of the next.
      costs.assign(stages, StageCost{1, 1, 1});
      EXPECT_LE(simulate(schedule, costs)->bubble,
                getBubbleFraction(stages, batches) + 1e-12);
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
          // However long the step is, activations are those of a round.
          EXPECT_EQ(getMaxInFlight(all[stage]), getMaxInFlight(one[stage]));
          EXPECT_LE(getMaxInFlight(all[stage]), batches);
        }
        // The first stage begins and ends each round, so times add up.
        std::vector<StageCost> costs(stages, StageCost{1, 2, 0});
        std::optional<Simulation> simulation = simulate(all, costs);
        ASSERT_TRUE(simulation.has_value());
        EXPECT_DOUBLE_EQ(simulation->makespan,
                         3.0 * (batches + stages - 1) * rounds);
        EXPECT_NEAR(simulation->bubble, getBubbleFraction(stages, batches),
                    1e-12);
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
      }
}

TEST(PipelineSchedule, BubbleFraction) {
  EXPECT_EQ(getBubbleFraction(1, 8), 0);
  EXPECT_EQ(getBubbleFraction(4, 1), 0.75);
  EXPECT_EQ(getBubbleFraction(4, 9), 0.25);
}

TEST(PipelineSchedule, SimulationFindsDeadlock) {
  // The first stage wants the gradient before it has sent the activation.
  PipelineSchedule schedule = {
      {{TaskKind::B, 0}, {TaskKind::F, 0}, {TaskKind::W, 0}},
      {{TaskKind::F, 0}, {TaskKind::B, 0}, {TaskKind::W, 0}}};
  std::vector<StageCost> costs(2, StageCost{1, 1, 1});
  EXPECT_FALSE(simulate(schedule, costs).has_value());
}

TEST(PipelineSchedule, SlowestStageDecides) {
  PipelineSchedule schedule = make("1f1b", 2, 100);
  std::vector<StageCost> costs = {{1, 1, 1}, {2, 2, 2}};
  std::optional<Simulation> simulation = simulate(schedule, costs);
  ASSERT_TRUE(simulation.has_value());
  EXPECT_NEAR(simulation->makespan, 600, 10);
  EXPECT_NEAR(simulation->bubble, 0.25, 0.01);
}
