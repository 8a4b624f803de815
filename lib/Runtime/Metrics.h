//===- Metrics.h - what a training reports step by step ---------*- C++ -*-===//
//
// Everything is formatted into fixed buffers and written at once: a step does
// not allocate, and a killed job has lost nothing.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_METRICS_H
#define DTC_LIB_RUNTIME_METRICS_H

#include <cstdint>
#include <string>

namespace dtc::rt {

struct StepMetrics {
  int64_t step; ///< from 1
  double loss, gradientNorm, learningRate, seconds;
  double samplesPerSecond;
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

private:
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

  /// Whether these are the first metrics that are no numbers: `report` warns.
  bool warnsOf(const StepMetrics &metrics) const;
  /// `cause` is part of that warning; see NotFinite.h.
  void report(const StepMetrics &metrics, const std::string &cause);
  /// Removes the bar.
  void finish();

private:
  void drawBar(TextBuffer &out, const StepMetrics &metrics) const;

  int64_t steps, logEvery;
  bool bar;
  bool finite = true; ///< the last loss and norm were numbers
  double elapsed = 0; ///< without the first step, which warms up
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_METRICS_H
