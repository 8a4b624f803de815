//===- Metrics.h - metrics of a step and an evaluation ----------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_METRICS_METRICS_H
#define DTC_LIB_RUNTIME_METRICS_METRICS_H

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace dtc::rt {

struct StepMetrics {
  int64_t step; ///< from 1
  double loss, gradientNorm, learningRate, seconds;
  double samplesPerSecond;
  std::optional<double> lossScale; ///< of fp16
  /// Whether the step was skipped because its gradients were NaN or infinite.
  std::optional<bool> isSkipped = {};
  std::optional<double> tokensPerSecond = {}; ///< if samples are sequences
  std::optional<double> epoch = {}; ///< passes over the data, where they end
  std::optional<double> flopsPerSecond = {}, mfu = {}; ///< as of ModelSpeed
  /// As of GradientNoise: the root of the mean square over ranks, and samples.
  std::optional<double> localGradientNorm = {}, noiseScale = {};
  /// Updates between the parameters that a worker got and its push, on average.
  std::optional<double> staleness = {};
};

/// Means over all samples of an evaluation, which weight every label or element
/// alike.
struct EvalMetrics {
  int64_t step; ///< after which it was made; 0: before a training
  double loss;
  /// With label smoothing and class weights, if the training has them.
  std::optional<double> trainingLoss = {};
  /// Metrics that only some losses have.
  std::optional<double> perplexity = {}, accuracy = {}, top5 = {}, f1 = {};
  /// Distance of workers' parameters from their mean, which is evaluated.
  std::optional<double> workerDistance = {};
  bool ofTrainingData = false;

  const char *setName() const { return ofTrainingData ? "train" : "eval"; }
};

/// Calls `use(KEY, TAG, VALUE)` for each number of a step, in the order of the
/// files, with the key of --metrics and the tag of --tensorboard.
template <typename Use>
void forEachNumber(const StepMetrics &metrics, const Use &use) {
  use("loss", "loss", metrics.loss);
  use("grad_norm", "grad_norm", metrics.gradientNorm);
  use("lr", "lr", metrics.learningRate);
  use("seconds", "seconds", metrics.seconds);
  use("samples_per_second", "samples_per_second", metrics.samplesPerSecond);
  if (metrics.tokensPerSecond)
    use("tokens_per_second", "tokens_per_second", *metrics.tokensPerSecond);
  if (metrics.epoch)
    use("epoch", "epoch", *metrics.epoch);
  if (metrics.lossScale)
    use("loss_scale", "loss_scale", *metrics.lossScale);
  if (metrics.isSkipped)
    use("skipped", "skipped", double(*metrics.isSkipped));
  for (auto [key, value] :
       {std::pair("model_flops_per_second", metrics.flopsPerSecond),
        {"mfu", metrics.mfu},
        {"grad_norm_local", metrics.localGradientNorm},
        {"gradient_noise_scale", metrics.noiseScale},
        {"staleness", metrics.staleness}})
    if (value)
      use(key, key, *value);
}

/// The names and values of an evaluation, without the loss.
template <typename Use>
void forEachOptional(const EvalMetrics &metrics, const Use &use) {
  for (auto [name, value] : {std::pair("training_loss", metrics.trainingLoss),
                             {"perplexity", metrics.perplexity},
                             {"accuracy", metrics.accuracy},
                             {"top5", metrics.top5},
                             {"f1", metrics.f1},
                             {"worker_distance", metrics.workerDistance}})
    if (value)
      use(name, *value);
}

template <typename Use>
void forEachNumber(const EvalMetrics &metrics, const Use &use) {
  std::string set = metrics.setName();
  auto add = [&](const char *name, double value) {
    use((set + "_" + name).c_str(), (set + "/" + name).c_str(), value);
  };
  add("loss", metrics.loss);
  forEachOptional(metrics, add);
}

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_METRICS_METRICS_H
