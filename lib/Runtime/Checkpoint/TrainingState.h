//===- TrainingState.h - the state of a training ----------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_CHECKPOINT_TRAININGSTATE_H
#define DTC_LIB_RUNTIME_CHECKPOINT_TRAININGSTATE_H

#include "Options/Options.h"

#include <cstdint>
#include <optional>

namespace dtc::rt {

/// The state of dynamic loss scaling (Training/LossScale.h).
struct LossScaleState {
  double scale = 1;
  int64_t skipped = 0; ///< steps that overflowed
  int64_t done = 0;    ///< steps that updated the weights
  int64_t inRow = 0;   ///< updates since the scale changed
};

/// The best evaluation.
struct BestEvaluation {
  int64_t step; ///< after which it was made
  BestBy by;    ///< the number that was compared
  double value;
};

/// The evaluations so far.
struct Evaluations {
  std::optional<BestEvaluation> best; ///< nothing before one is a number
  int64_t since = 0;                  ///< evaluations after it, or of all
};

/// The state of a training, besides the contents of its arenas. Random numbers
/// and the order of samples follow from the seed and the step.
struct TrainingState {
  int64_t step = 0; ///< steps that are done
  LossScaleState lossScale;
  Evaluations evaluations;
  /// The newest earlier checkpoint that is followed by a step with finite loss
  /// and gradient norm.
  std::optional<int64_t> soundStep;
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_CHECKPOINT_TRAININGSTATE_H
