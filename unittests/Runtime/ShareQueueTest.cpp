//===- ShareQueueTest.cpp - all orders of arrival -------------------------===//
//
// Visits each order in which workers can take shares and pushes can be applied,
// and checks what docs/Architecture/Workers.md says of every order.
//
//===----------------------------------------------------------------------===//

#include "Server/ShareQueue.h"

#include "gtest/gtest.h"

#include <set>
#include <tuple>
#include <vector>

using namespace dtc::rt;

namespace {

struct Case {
  int64_t steps, workers, ahead;
};

/// A state of a training: what is given so far, and what workers have. The
/// queue is a function of these.
using State = std::tuple<int64_t, std::set<Share>>;

class AllOrders {
public:
  explicit AllOrders(const Case &sizes) : sizes(sizes) {}

  void visit(const ShareQueue &queue, int64_t given,
             const std::set<Share> &held) {
    if (!visited.insert({given, held}).second)
      return;
    int64_t all = sizes.steps * sizes.workers;
    ASSERT_EQ(queue.isIdle(), held.empty());
    ASSERT_EQ(queue.isDone(), given == all && held.empty());
    std::optional<Share> next = queue.next();
    bool canGive = next && int64_t(held.size()) < sizes.workers;
    ASSERT_TRUE(canGive || !held.empty() || queue.isDone()) << "a deadlock";
    if (next) {
      // Each share in order, so each once.
      ASSERT_EQ(next->step, 1 + given / sizes.workers);
      ASSERT_EQ(next->index, given % sizes.workers);
      for (const Share &share : held)
        ASSERT_LE(next->step - share.step, sizes.ahead);
    } else if (given < all) {
      ASSERT_EQ(1 + given / sizes.workers - held.begin()->step, sizes.ahead + 1)
          << "waits without need";
    }
    if (canGive) {
      ShareQueue after = queue;
      after.give();
      std::set<Share> more = held;
      more.insert(*next);
      visit(after, given + 1, more);
    }
    for (const Share &share : held) {
      ShareQueue after = queue;
      after.finish(share);
      std::set<Share> fewer = held;
      fewer.erase(share);
      visit(after, given, fewer);
    }
  }

  size_t countStates() const { return visited.size(); }

private:
  Case sizes;
  std::set<State> visited;
};

TEST(ShareQueue, EveryOrderKeepsTheBoundAndEnds) {
  for (Case sizes : {Case{1, 1, 1},
                     {4, 1, 1},
                     {4, 2, 1},
                     {5, 2, 2},
                     {4, 3, 1},
                     {5, 3, 2},
                     {6, 3, 3},
                     {4, 4, 1}}) {
    AllOrders orders(sizes);
    orders.visit(ShareQueue(1, sizes.steps, sizes.workers, sizes.ahead), 0, {});
    EXPECT_GT(orders.countStates(), size_t(sizes.steps));
  }
}

TEST(ShareQueue, EndsTheStepThatHasBegun) {
  ShareQueue queue(3, 9, /*shares=*/2, /*ahead=*/4);
  queue.give(); // share 0 of step 3
  EXPECT_EQ(queue.endStep(), 3);
  EXPECT_EQ(queue.next(), (Share{3, 1}));
  queue.give();
  EXPECT_FALSE(queue.next());
  EXPECT_FALSE(queue.isDone());
  queue.finish({3, 1});
  queue.finish({3, 0});
  EXPECT_TRUE(queue.isDone());
}

TEST(ShareQueue, GivesNothingOnceItIsStopped) {
  ShareQueue queue(1, 9, /*shares=*/2, /*ahead=*/4);
  queue.give();
  queue.stop();
  EXPECT_FALSE(queue.next());
  queue.finish({1, 0});
  EXPECT_TRUE(queue.isDone());
}

} // namespace
