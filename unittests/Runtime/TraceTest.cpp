//===- TraceTest.cpp - recorded events, and too many of them --------------===//

#include "Metrics/Trace.h"
#include "Device/DeviceClock.h"

#include "Core/Error.h"
#include "TestManifest.h"

#include <fstream>
#include <gtest/gtest.h>

using namespace dtc::rt;

namespace {

class TraceTest : public testing::Test {
protected:
  TraceTest() : program(makeProgram()), collectives(makeSelfCollectives()) {}

  static Program makeProgram() {
    nlohmann::json manifest = validManifest();
    manifest["mesh"][1]["size"] = 1;
    return readJson(manifest);
  }

  /// A step of `numRuns` runs and a message that is in flight all the time.
  static void runStep(Trace &trace, int64_t step, int numRuns) {
    trace.beginStep(step);
    trace.begin(TraceEvent::send, 0, 64, -1, /*slot=*/7);
    for (int run = 0; run < numRuns; ++run) {
      trace.beginRun(0, run);
      {
        TraceSpan span(&trace, dtc::CollectiveKind::AllReduce, 1, 8);
      }
      trace.endRun();
    }
    trace.end(trace.findStarted(7));
    EXPECT_EQ(trace.findStarted(7), -1);
    trace.endStep();
  }

  /// The names of the events by step.
  std::map<int, std::vector<std::string>> write(Trace &trace) {
    trace.write();
    std::ifstream stream(path);
    std::map<int, std::vector<std::string>> names;
    auto written = nlohmann::json::parse(stream);
    for (const auto &event : written["traceEvents"])
      if (event["ph"] == "X")
        names[event["args"]["step"]].push_back(event["name"]);
    return names;
  }

  Program program;
  std::unique_ptr<Collectives> collectives;
  std::string path = testing::TempDir() + "/trace.json";
};

using Names = std::vector<std::string>;

TEST_F(TraceTest, NamesWhatItRecords) {
  Trace trace(program, *collectives, path, "", 2, 3);
  EXPECT_FALSE(trace.records(1));
  EXPECT_TRUE(trace.records(2));
  runStep(trace, 2, 1);
  runStep(trace, 3, 2);
  auto names = write(trace);
  EXPECT_EQ(names[2], (Names{"send to stage 0", "F0", "all_reduce pp,dp"}));
  EXPECT_EQ(names[3].size(), 5u);
}

TEST_F(TraceTest, DropsAStepThatDoesNotFit) {
  Trace trace(program, *collectives, path, "", 1, 3, /*capacity=*/8);
  runStep(trace, 1, 3); // seven events
  runStep(trace, 2, 3);
  runStep(trace, 3, 0); // would fit
  testing::internal::CaptureStdout();
  auto names = write(trace);
  EXPECT_EQ(testing::internal::GetCapturedStdout(),
            "note: the trace '" + path +
                "' has 1 of 3 steps; the next would be more than 8 events of "
                "a rank\n");
  EXPECT_EQ(names.size(), 1u);
  EXPECT_EQ(names[1].size(), 7u);
}

TEST_F(TraceTest, SaysWhatAProfileLacks) {
  Trace trace(program, *collectives, "", "-", 1, 2, /*capacity=*/8);
  runStep(trace, 1, 3);
  runStep(trace, 2, 3);
  testing::internal::CaptureStdout();
  EXPECT_NE(trace.write().table, "");
  EXPECT_EQ(testing::internal::GetCapturedStdout(),
            "note: the profile '-' has 1 of 2 steps; the next would be more "
            "than 8 events of a rank\n");
}

/// Each mark is a microsecond after the one before.
class CountingClock : public DeviceClock {
public:
  void begin() override { marks = 0; }
  int64_t mark() override { return marks++; }
  int64_t timeOf(int64_t mark) const override { return 5000 + 1000 * mark; }

private:
  int64_t marks = -1; // a mark before the first step is none
};

TEST_F(TraceTest, HasTheTimesOfTheDevice) {
  Trace trace(program, *collectives, path, "", 1, 1);
  CountingClock clock;
  trace.use(&clock);
  runStep(trace, 1, 1);
  trace.write();
  std::map<std::string, std::pair<double, double>> times;
  auto written = nlohmann::json::parse(std::ifstream(path));
  for (const auto &event : written["traceEvents"])
    if (event["ph"] == "X")
      times[event["name"]] = {event["ts"], event["dur"]};
  EXPECT_EQ(times["send to stage 0"], std::pair(0.0, 5.0));
  EXPECT_EQ(times["F0"], std::pair(1.0, 3.0));
  EXPECT_EQ(times["all_reduce pp,dp"], std::pair(2.0, 1.0));
}

TEST_F(TraceTest, SaysWhyThereIsNoFile) {
  EXPECT_THROW(Trace(program, *collectives, path + "/none", "", 1, 1), Error);
}

} // namespace
