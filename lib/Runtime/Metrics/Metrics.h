//===- Metrics.h - what a training measures step by step --------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_METRICS_METRICS_H
#define DTC_LIB_RUNTIME_METRICS_METRICS_H

#include <cstdint>
#include <optional>
#include <utility>

namespace dtc::rt {

struct StepMetrics {
  int64_t step; ///< from 1
  double loss, gradientNorm, learningRate, seconds;
  double samplesPerSecond;
  std::optional<double> lossScale;            ///< of fp16
  bool isSkipped = false;                     ///< its gradients overflowed fp16
  std::optional<double> tokensPerSecond = {}; ///< where samples are sequences
  std::optional<double> flopsPerSecond = {}, mfu = {}; ///< as of ModelSpeed
  /// As of GradientNoise: the root of the mean square over ranks, and samples.
  std::optional<double> localGradientNorm = {}, noiseScale = {};
};

/// Means over all samples of an evaluation, which weight every label or element
/// alike.
struct EvalMetrics {
  int64_t step; ///< after which it was made
  double loss;
  /// exp(loss) and the share of right answers, of losses that have them.
  std::optional<double> perplexity, accuracy;
};

/// The numbers that files have of a step, in their order: calls
/// `use(KEY, TAG, VALUE)` with the key of --metrics and the tag of
/// --tensorboard.
template <typename Use>
void forEachNumber(const StepMetrics &metrics, const Use &use) {
  use("loss", "loss", metrics.loss);
  use("grad_norm", "grad_norm", metrics.gradientNorm);
  use("lr", "lr", metrics.learningRate);
  use("seconds", "seconds", metrics.seconds);
  use("samples_per_second", "samples_per_second", metrics.samplesPerSecond);
  if (metrics.tokensPerSecond)
    use("tokens_per_second", "tokens_per_second", *metrics.tokensPerSecond);
  if (metrics.lossScale) {
    use("loss_scale", "loss_scale", *metrics.lossScale);
    use("skipped", "skipped", double(metrics.isSkipped));
  }
  for (auto [key, value] :
       {std::pair("model_flops_per_second", metrics.flopsPerSecond),
        {"mfu", metrics.mfu},
        {"grad_norm_local", metrics.localGradientNorm},
        {"gradient_noise_scale", metrics.noiseScale}})
    if (value)
      use(key, key, *value);
}

template <typename Use>
void forEachNumber(const EvalMetrics &metrics, const Use &use) {
  use("eval_loss", "eval/loss", metrics.loss);
  if (metrics.perplexity)
    use("eval_perplexity", "eval/perplexity", *metrics.perplexity);
  if (metrics.accuracy)
    use("eval_accuracy", "eval/accuracy", *metrics.accuracy);
}

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_METRICS_METRICS_H
