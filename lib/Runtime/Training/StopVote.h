//===- StopVote.h - all ranks stop after the same step ----------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_TRAINING_STOPVOTE_H
#define DTC_LIB_RUNTIME_TRAINING_STOPVOTE_H

#include "Collectives/Collectives.h"

#include <chrono>
#include <optional>

namespace dtc::rt {

/// A step whose loss or gradient norm is NaN or infinite.
struct NotFiniteStep {
  int64_t step;
  double loss, gradientNorm;
};

/// Signals reach ranks at different times, or some ranks only, and workers see
/// losses of their own. So the ranks vote after some steps, rarely enough to
/// cost next to nothing.
class StopVote {
public:
  explicit StopVote(Collectives &collectives)
      : collectives(collectives), votes(size_t(collectives.size())) {}

  struct Decision {
    bool isVote = false; ///< whether the ranks have voted after this step
    bool stops = false;  ///< whether all ranks stop after this step
    /// The first step since the last vote that a rank has observed.
    std::optional<NotFiniteStep> notFinite;
  };

  /// Keeps the step for the next vote, if it is the first one since the last.
  void observe(const NotFiniteStep &found);

  /// All ranks call this after each step, and get the same. `wants` is whether
  /// this rank was asked to stop. With `must`, which is the same on all ranks,
  /// the ranks vote in any case.
  Decision decide(int64_t step, bool wants, bool must = false);

private:
  struct Vote {
    int64_t wants;
    NotFiniteStep notFinite; ///< step 0: there is none
    double seconds;          ///< of a step, with what comes between steps
  };
  Collectives &collectives;
  std::vector<Vote> votes; ///< by rank
  std::optional<NotFiniteStep> own;
  int64_t next = 0; ///< the step after which the ranks vote
  int64_t last = 0; ///< the step after which they did
  std::chrono::steady_clock::time_point lastTime; ///< when that was
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_TRAINING_STOPVOTE_H
