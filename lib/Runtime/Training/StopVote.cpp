//===- StopVote.cpp - all ranks stop after the same step ------------------===//

#include "StopVote.h"

#include <algorithm>
#include <cmath>

using namespace dtc::rt;

/// Between votes, as rank 0 measures it.
static constexpr double secondsBetween = 0.1;

StopVote::Decision StopVote::decide(int64_t step, const Wish &own, bool must) {
  if (collectives.size() == 1)
    return {own.stops, std::nullopt};
  if (step < next && !must)
    return {};
  auto now = std::chrono::steady_clock::now();
  std::chrono::duration<double> since = now - lastTime;
  // Nothing is known before the second vote.
  Vote vote{own.stops, own.loss, own.gradientNorm,
            last ? since.count() / double(step - last) : secondsBetween};
  last = step;
  lastTime = now;
  collectives.gatherData(&vote, votes.data(), sizeof vote);
  double steps = secondsBetween / std::max(votes[0].seconds, 1e-6);
  next = step + std::clamp<int64_t>(int64_t(steps), 1, 1000);
  Decision decision;
  for (const Vote &each : votes) {
    decision.stops |= each.stops != 0;
    bool isFinite =
        std::isfinite(each.loss) && std::isfinite(each.gradientNorm);
    if (!isFinite && !decision.notFinite)
      decision.notFinite = Wish{false, each.loss, each.gradientNorm};
  }
  return decision;
}
