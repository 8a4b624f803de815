//===- ShareQueue.h - shares of batches, in order ---------------*- C++ -*-===//
//
// The order in which a server may give shares of batches to workers. It decides
// nothing about time: any worker may take a share, and pushes may arrive in any
// order.
//
// Invariants, whatever order the pushes arrive in: each share is given once;
// the step of a share that is given is at most `ahead` above that of any share
// that is not yet done; if no share is with a worker, one can be given, or all
// are done. The last one excludes deadlocks. A unit test visits all orders of
// small cases.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_SERVER_SHAREQUEUE_H
#define DTC_LIB_RUNTIME_SERVER_SHAREQUEUE_H

#include <compare>
#include <cstdint>
#include <optional>
#include <set>

namespace dtc::rt {

/// One of the equal parts of a step's batch.
struct Share {
  int64_t step;  ///< from 1
  int64_t index; ///< from 0

  auto operator<=>(const Share &) const = default;
};

class ShareQueue {
public:
  /// The shares of steps `first` to `last`, `shares` of each. A worker may be
  /// `ahead` steps ahead of the slowest.
  ShareQueue(int64_t first, int64_t last, int64_t shares, int64_t ahead)
      : last(last), shares(shares), ahead(ahead), following{first, 0} {}

  /// The share that a worker may take now; none if all are given, or if the
  /// slowest worker is too far behind.
  std::optional<Share> next() const;
  /// A worker takes the share that is `next`.
  void give();
  /// A share that a worker has is done.
  void finish(const Share &share) { given.erase(share); }
  /// Whether no worker has a share.
  bool isIdle() const { return given.empty(); }
  /// Whether all shares are given and done.
  bool isDone() const { return isIdle() && following.step > last; }
  /// No share after those of the step that has begun is given. Returns this
  /// step.
  int64_t endStep();
  /// No other share is given.
  void stop() { last = 0; }

private:
  int64_t last, shares, ahead;
  Share following;
  std::set<Share> given; ///< and not done
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_SERVER_SHAREQUEUE_H
