//===- LossScale.h - what a loss of fp16 is multiplied by -------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_TRAINING_LOSSSCALE_H
#define DTC_LIB_RUNTIME_TRAINING_LOSSSCALE_H

#include <cmath>
#include <cstdint>

namespace dtc::rt {

/// Dynamic loss scaling, with the constants of torch.amp.GradScaler: a step
/// whose gradients overflow changes nothing and halves the scale; 2000 steps in
/// a row that do not, double it. Every rank decides by the norm of the whole
/// gradient, which all have, and so all decide alike.
class LossScale {
public:
  explicit LossScale(double initial) : scale(initial) {}

  double value() const { return scale; }
  int64_t skippedSteps() const { return skipped; }
  /// The number of the next update, from 1.
  int64_t nextUpdate() const { return done + 1; }

  /// Takes the norm of a step; returns whether the step was skipped.
  bool observe(double gradientNorm) {
    bool overflows = !std::isfinite(gradientNorm);
    if (overflows) {
      ++skipped;
      inRow = 0;
      scale = std::fmax(scale / 2, 1.0);
    } else {
      ++done;
      if (++inRow == growthInterval) {
        scale *= 2;
        inRow = 0;
      }
    }
    return overflows;
  }

private:
  static constexpr int64_t growthInterval = 2000;

  double scale;
  int64_t skipped = 0, done = 0, inRow = 0;
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_TRAINING_LOSSSCALE_H
