//===- ShareQueue.cpp - shares of batches, in order -----------------------===//

#include "ShareQueue.h"

#include <algorithm>

using namespace dtc::rt;

std::optional<Share> ShareQueue::next() const {
  if (following.step > last)
    return std::nullopt;
  if (!given.empty() && following.step - given.begin()->step > ahead)
    return std::nullopt;
  return following;
}

void ShareQueue::give() {
  given.insert(following);
  if (++following.index == shares)
    following = {following.step + 1, 0};
}

int64_t ShareQueue::endStep() {
  last = std::min(last,
                  following.index == 0 ? following.step - 1 : following.step);
  return last;
}
