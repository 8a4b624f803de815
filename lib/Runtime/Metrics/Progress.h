//===- Progress.h - lines and bar of a training -----------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_METRICS_PROGRESS_H
#define DTC_LIB_RUNTIME_METRICS_PROGRESS_H

#include "Metrics.h"
#include "ModelSpeed.h"
#include "Options/Options.h"

#include <chrono>

namespace dtc::rt {

struct TextBuffer;

/// Lines on standard output, with a progress bar below them on a terminal. They
/// are formatted into a fixed buffer and written at once.
class Progress {
public:
  /// `bytes` is what rank 0 holds in its arena.
  Progress(const Program &program, const Options &options, bool bar,
           int64_t bytes);

  /// Whether these are the first metrics with a NaN or infinity: then `report`
  /// warns.
  bool warnsOf(const StepMetrics &metrics) const;
  /// `cause` is part of that warning; see NotFinite.h.
  void report(const StepMetrics &metrics, const std::string &cause);
  void report(const EvalMetrics &metrics);
  /// A line above the bar; nothing if it is empty.
  void print(const char *prefix, const std::string &text);
  /// Whole lines, above the bar.
  void printLines(const std::string &lines);
  /// Removes the bar.
  void finish();
  /// Prints the speed of the training: the mean of its steps without the first,
  /// if there are others. Call after `finish`.
  void summarize();

private:
  using Clock = std::chrono::steady_clock;

  bool wantsLine(const StepMetrics &metrics) const;
  /// Whether the bar is old enough to be drawn again.
  bool wantsBar() const;
  void drawBar(TextBuffer &out);
  /// Formats a rate of samples, or "19.6k tokens/s" where samples have tokens.
  void formatRate(TextBuffer &out, double samplesPerSecond) const;

  int64_t steps;
  int64_t every;  ///< steps between lines; 0: as `logInterval` says
  int64_t batch;  ///< samples of a step
  int64_t tokens; ///< of a sample; 0: they have none
  ModelSpeed speed;
  int64_t arenaBytes; ///< of rank 0
  bool bar;           ///< until `finish`
  bool finite = true; ///< the last loss and norm were numbers
  int64_t first = 0;  ///< step of this run; 0: none yet
  double elapsed = 0; ///< seconds of steps but the first, which warms up
  Clock::time_point lastLine, lastBar;
  StepMetrics last{}; ///< shown by the bar
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_METRICS_PROGRESS_H
