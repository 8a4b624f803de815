//===- Metrics.h - what a training measures step by step --------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_METRICS_METRICS_H
#define DTC_LIB_RUNTIME_METRICS_METRICS_H

#include <cstdint>
#include <optional>

namespace dtc::rt {

struct StepMetrics {
  int64_t step; ///< from 1
  double loss, gradientNorm, learningRate, seconds;
  double samplesPerSecond;
  std::optional<double> lossScale; ///< of fp16
  bool isSkipped = false;          ///< its gradients overflowed fp16
};

/// Means over all samples of an evaluation, which weight every label or element
/// alike.
struct EvalMetrics {
  int64_t step; ///< after which it was made
  double loss;
  /// exp(loss) and the share of right answers, of losses that have them.
  std::optional<double> perplexity, accuracy;
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_METRICS_METRICS_H
