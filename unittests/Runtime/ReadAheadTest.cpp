//===- ReadAheadTest.cpp --------------------------------------------------===//

#include "Data/ReadAhead.h"
#include "Expect.h"

#include <atomic>
#include <chrono>
#include <cstring>

using namespace dtc::rt;
using namespace std::chrono_literals;

namespace {

struct Steps {
  std::atomic<int64_t> last = -1, count = 0;
  std::chrono::milliseconds pause = 0ms;
  int64_t failing = -1;

  std::function<void(int64_t, char *)> fill() {
    return [this](int64_t step, char *buffer) {
      std::this_thread::sleep_for(pause);
      if (step == failing)
        fail("step %lld cannot be read", (long long)step);
      memcpy(buffer, &step, sizeof step);
      last = step;
      ++count;
    };
  }
};

int64_t take(ReadAhead &reader, int64_t step) {
  int64_t found;
  memcpy(&found, reader.wait(step), sizeof found);
  reader.release();
  return found;
}

} // namespace

TEST(ReadAhead, GivesEachStepOnce) {
  Steps steps;
  ReadAhead reader(3, 8, 1000, steps.fill());
  for (int64_t step = 0; step < 1000; ++step)
    ASSERT_EQ(take(reader, step), step);
  EXPECT_EQ(steps.count, 1000);
}

TEST(ReadAhead, StaysWithinItsDepthAndTheEnd) {
  Steps steps;
  ReadAhead reader(3, 8, 10, steps.fill());
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(steps.last, -1) << "no step was asked for";
  EXPECT_EQ(take(reader, 4), 4);
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(steps.last, 7);
  for (int64_t step = 5; step < 10; ++step)
    EXPECT_EQ(take(reader, step), step);
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(steps.last, 9);
  EXPECT_EQ(take(reader, 10), 10); // asked for after all
  EXPECT_EQ(take(reader, 20), 20);
}

TEST(ReadAhead, BeginsAnewWhereItIsAsked) {
  Steps steps;
  steps.pause = 1ms;
  ReadAhead reader(2, 8, 1000, steps.fill());
  for (int64_t step : {0, 1, 500, 501, 3, 3, 4, 0})
    EXPECT_EQ(take(reader, step), step);
}

TEST(ReadAhead, ReadsWhileItsUserComputes) {
  Steps steps;
  steps.pause = 20ms;
  ReadAhead reader(2, 8, 12, steps.fill());
  take(reader, 0);
  auto start = std::chrono::steady_clock::now();
  for (int64_t step = 1; step < 11; ++step) {
    std::this_thread::sleep_for(20ms); // computes
    take(reader, step);
  }
  // One after the other would be 400 ms.
  EXPECT_LT(std::chrono::steady_clock::now() - start, 350ms);
}

TEST(ReadAhead, ThrowsWhatItsThreadThrew) {
  Steps steps;
  steps.failing = 2;
  ReadAhead reader(4, 8, 1000, steps.fill());
  EXPECT_EQ(take(reader, 0), 0);
  EXPECT_EQ(take(reader, 1), 1);
  EXPECT_ERROR(reader.wait(2), "step 2 cannot be read");
  EXPECT_ERROR(reader.wait(2), "step 2 cannot be read");
}
