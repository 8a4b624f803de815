//===- StopVote.h - all ranks stop after the same step ----------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_TRAINING_STOPVOTE_H
#define DTC_LIB_RUNTIME_TRAINING_STOPVOTE_H

#include "Collectives/Collectives.h"

#include <chrono>

namespace dtc::rt {

/// Signals reach ranks at different moments, some ranks only, or only the
/// launcher. After some steps, so that it costs next to nothing, the ranks tell
/// each other.
class StopVote {
public:
  explicit StopVote(Collectives &collectives)
      : collectives(collectives), votes(size_t(collectives.size())) {}

  /// Whether to stop after this step; the same on all ranks. `wants` is whether
  /// this rank was asked to. Met by all ranks.
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
