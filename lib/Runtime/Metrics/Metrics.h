//===- Metrics.h - what a training reports step by step ---------*- C++ -*-===//
//
// Everything is formatted into fixed buffers and written at once: a step does
// not allocate, and a killed job has lost nothing.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_METRICS_METRICS_H
#define DTC_LIB_RUNTIME_METRICS_METRICS_H

#include <cstdint>
#include <optional>
#include <span>
#include <string>

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

/// One JSON object per line; numbers are the shortest that read back to the
/// same bits, and null where JSON has no number (NaN, infinity).
class MetricsFile {
public:
  /// An empty path writes nothing. Throws when the file cannot be created.
  explicit MetricsFile(std::string path);
  ~MetricsFile();
  MetricsFile(const MetricsFile &) = delete;

  /// Ends the job when the disk is full.
  void write(const StepMetrics &metrics);
  void write(const EvalMetrics &metrics);

private:
  struct Field {
    const char *name;
    double value;
  };
  void write(int64_t step, std::span<const Field> fields);

  std::string path;
  int file = -1;
};

struct TextBuffer;

/// Lines for people on standard output, with a progress bar below them on a
/// terminal.
class Progress {
public:
  Progress(int64_t steps, int64_t logEvery, bool bar)
      : steps(steps), logEvery(logEvery), bar(bar) {}

  /// Whether these are the first metrics that are no numbers: `report` warns if
  /// it gets a cause.
  bool warnsOf(const StepMetrics &metrics) const;
  /// `cause` is part of that warning; see NotFinite.h.
  void report(const StepMetrics &metrics, const std::string &cause);
  void report(const EvalMetrics &metrics);
  /// Removes the bar.
  void finish();

private:
  void drawBar(TextBuffer &out, int64_t step) const;

  int64_t steps, logEvery;
  bool bar;
  bool finite = true; ///< the last loss and norm were numbers
  double elapsed = 0; ///< without the first step, which warms up
  double last = 0;    ///< of the last step
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_METRICS_METRICS_H
