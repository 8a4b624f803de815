//===- LearningRate.h - the learning rate of each step ----------*- C++ -*-===//
//
// Schedules by the formulas of PyTorch and of transformers.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_OPTIONS_LEARNINGRATE_H
#define DTC_LIB_RUNTIME_OPTIONS_LEARNINGRATE_H

#include <cstdint>
#include <optional>
#include <string>

namespace dtc::rt {

enum class LearningRateShape { constant, linear, cosine, oneCycle };

/// Let N be `steps`, W `warmup` and t = step - 1.
///
/// constant, linear and cosine first rise from 0, by t / W of the peak while
/// t < W. Then, with p = (t - W) / (N - W), the rate is
///   constant  peak
///   linear    peak + (minimum - peak) p
///   cosine    minimum + (peak - minimum) (1 + cos(pi p)) / 2
/// linear is PyTorch's LinearLR, cosine its CosineAnnealingLR, and both with a
/// minimum of 0 transformers' get_{linear,cosine}_schedule_with_warmup. Like
/// there, the minimum would be the rate of step N + 1.
///
/// one-cycle is PyTorch's OneCycleLR: from peak / 25 to the peak at t = W - 1
/// and down to the minimum at t = N - 1, both along half a cosine. Unless they
/// are given W is 0.3 N and the minimum peak / 25e4.
struct LearningRateSchedule {
  LearningRateShape shape = LearningRateShape::constant;
  double peak = 0;
  int64_t steps = 1;
  std::optional<int64_t> warmup;
  std::optional<double> minimum;

  /// Throws an Error if the values do not fit together.
  void check() const;
  /// The rate of a step, which counts from 1.
  double at(int64_t step) const;
  /// "lr=0.001" or "lr=0.001 cosine warmup_steps=10 min_lr=0".
  std::string describe() const;
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_OPTIONS_LEARNINGRATE_H
