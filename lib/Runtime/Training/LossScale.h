//===- LossScale.h - dynamic loss scaling for fp16 --------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_TRAINING_LOSSSCALE_H
#define DTC_LIB_RUNTIME_TRAINING_LOSSSCALE_H

#include "Checkpoint/TrainingState.h"

#include <cmath>
#include <cstdint>

namespace dtc::rt {

/// Dynamic loss scaling, with the constants of torch.amp.GradScaler. A step
/// whose gradients overflow changes nothing and halves the scale. 2000
/// consecutive steps without overflow double it. All ranks know the norm of the
/// whole gradient, and so decide alike.
class LossScale {
public:
  using State = LossScaleState;

  explicit LossScale(double initial) : now{initial} {}
  explicit LossScale(const State &state) : now(state) {}

  const State &state() const { return now; }
  double value() const { return now.scale; }
  int64_t skippedSteps() const { return now.skipped; }
  /// The number of the next update, from 1.
  int64_t nextUpdate() const { return now.done + 1; }

  /// Takes the norm of a step; returns whether the step was skipped.
  bool observe(double gradientNorm) {
    bool overflows = !std::isfinite(gradientNorm);
    if (overflows) {
      ++now.skipped;
      now.inRow = 0;
      now.scale = std::fmax(now.scale / 2, 1.0);
    } else {
      ++now.done;
      if (++now.inRow == growthInterval) {
        now.scale *= 2;
        now.inRow = 0;
      }
    }
    return overflows;
  }

private:
  static constexpr int64_t growthInterval = 2000;

  State now;
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_TRAINING_LOSSSCALE_H
