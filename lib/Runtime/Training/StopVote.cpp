//===- StopVote.cpp - all ranks stop after the same step ------------------===//

#include "StopVote.h"

#include <algorithm>
#include <utility>

using namespace dtc::rt;

/// Between votes, as rank 0 measures it.
static constexpr double secondsBetween = 0.1;

void StopVote::observe(const NotFiniteStep &found) {
  if (!own)
    own = found;
}

StopVote::Decision StopVote::decide(int64_t step, bool wants, bool must) {
  if (collectives.size() == 1)
    return {true, wants, std::exchange(own, std::nullopt)};
  if (step < next && !must)
    return {};
  auto now = std::chrono::steady_clock::now();
  std::chrono::duration<double> since = now - lastTime;
  // Nothing is known before the second vote.
  Vote vote{wants, own.value_or(NotFiniteStep{0, 0, 0}),
            last ? since.count() / double(step - last) : secondsBetween};
  own.reset();
  last = step;
  lastTime = now;
  collectives.gatherData(&vote, votes.data(), sizeof vote);
  double steps = secondsBetween / std::max(votes[0].seconds, 1e-6);
  next = step + std::clamp<int64_t>(int64_t(steps), 1, 1000);
  Decision decision{true, false, std::nullopt};
  for (const Vote &each : votes) {
    decision.stops |= each.wants != 0;
    const NotFiniteStep &found = each.notFinite;
    if (found.step &&
        (!decision.notFinite || found.step < decision.notFinite->step))
      decision.notFinite = found;
  }
  return decision;
}
