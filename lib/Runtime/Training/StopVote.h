//===- StopVote.h - all ranks stop after the same step ----------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_TRAINING_STOPVOTE_H
#define DTC_LIB_RUNTIME_TRAINING_STOPVOTE_H

#include "Collectives/Collectives.h"

#include <chrono>
#include <optional>

namespace dtc::rt {

/// Signals reach ranks at different times, or some ranks only, and workers see
/// numbers of their own. So the ranks vote after some steps, rarely enough to
/// cost next to nothing.
class StopVote {
public:
  explicit StopVote(Collectives &collectives)
      : collectives(collectives), votes(size_t(collectives.size())) {}

  struct Wish {
    bool stops = false; ///< this rank was asked to stop
    double loss = 0, gradientNorm = 0;
  };
  struct Decision {
    bool stops = false; ///< all ranks stop after this step
    /// The loss and norm of the first rank that has no numbers there.
    std::optional<Wish> notFinite;
  };
  /// All ranks call this after each step, and get the same. `must`: the ranks
  /// vote after this step in any case; the same on all ranks.
  Decision decide(int64_t step, const Wish &own, bool must = false);

private:
  struct Vote {
    int64_t stops;
    double loss, gradientNorm;
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
