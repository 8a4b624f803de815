//===- StopVote.h - all ranks stop after the same step ----------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_TRAINING_STOPVOTE_H
#define DTC_LIB_RUNTIME_TRAINING_STOPVOTE_H

#include "Collectives/Collectives.h"

#include <chrono>

namespace dtc::rt {

/// Signals reach ranks at different times, or some ranks only. So the ranks
/// vote after some steps, rarely enough to cost next to nothing.
class StopVote {
public:
  explicit StopVote(Collectives &collectives)
      : collectives(collectives), votes(size_t(collectives.size())) {}

  /// Whether all ranks stop after this step. `wants` is whether this rank was
  /// asked to. All ranks call this.
  bool decide(int64_t step, bool wants);

private:
  struct Vote {
    int64_t wants;
    double seconds; ///< of a step, with what comes between steps
  };
  Collectives &collectives;
  std::vector<Vote> votes; ///< by rank
  int64_t next = 0;        ///< the step after which the ranks vote
  int64_t last = 0;        ///< the step after which they did
  std::chrono::steady_clock::time_point lastTime; ///< when that was
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_TRAINING_STOPVOTE_H
