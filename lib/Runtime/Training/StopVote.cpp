//===- StopVote.cpp - all ranks stop after the same step ------------------===//

#include "StopVote.h"

#include <algorithm>

using namespace dtc::rt;

/// Between votes, as rank 0 measures it.
static constexpr double secondsBetween = 0.1;

bool StopVote::decide(int64_t step, bool wants) {
  if (collectives.size() == 1)
    return wants;
  if (step < next)
    return false;
  auto now = std::chrono::steady_clock::now();
  std::chrono::duration<double> since = now - lastTime;
  // Nothing is known before the second vote.
  Vote own{wants, last ? since.count() / double(step - last) : secondsBetween};
  last = step;
  lastTime = now;
  collectives.gatherData(&own, votes.data(), sizeof own);
  double steps = secondsBetween / std::max(votes[0].seconds, 1e-6);
  next = step + std::clamp<int64_t>(int64_t(steps), 1, 1000);
  return std::any_of(votes.begin(), votes.end(),
                     [](const Vote &vote) { return vote.wants; });
}
