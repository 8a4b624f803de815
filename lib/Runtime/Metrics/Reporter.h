//===- Reporter.h - all places that metrics go to ---------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_METRICS_REPORTER_H
#define DTC_LIB_RUNTIME_METRICS_REPORTER_H

#include "EventFile.h"
#include "MetricsFile.h"
#include "Progress.h"

namespace dtc::rt {

/// Lines on standard output, --metrics and --tensorboard, of rank 0.
class Reporter {
public:
  /// `arenaBytes` is what rank 0 holds; `resumedAtStep` the last step of the
  /// checkpoint that the run starts from, if there is one. Throws if a file
  /// cannot be created.
  Reporter(const Program &program, const Options &options, bool bar,
           int64_t arenaBytes, std::optional<int64_t> resumedAtStep)
      : metricsFile(program, options, resumedAtStep),
        eventFile(options.tensorboard, resumedAtStep),
        progress(program, options, bar, arenaBytes) {}

  /// Says what happened to the former metrics file; empty if there was none.
  const std::string &describeFormer() const { return metricsFile.note(); }

  bool warnsOf(const StepMetrics &metrics) const {
    return progress.warnsOf(metrics);
  }
  void report(const StepMetrics &metrics, const std::string &cause) {
    warn(metricsFile.write(metrics));
    warn(eventFile.write(metrics));
    progress.report(metrics, cause);
  }
  void report(const EvalMetrics &metrics) {
    warn(metricsFile.write(metrics));
    warn(eventFile.write(metrics));
    progress.report(metrics);
  }
  /// A line of its own; nothing if it is empty.
  void warn(const std::string &text) { progress.print("warning: ", text); }
  void note(const std::string &text) { progress.print("note: ", text); }
  /// Whole lines.
  void print(const std::string &lines) { progress.printLines(lines); }
  /// Ends the lines of steps. Call before other lines.
  void finish() { progress.finish(); }
  /// Prints how fast the training was. Call after `finish`.
  void summarize() { progress.summarize(); }

private:
  MetricsFile metricsFile;
  EventFile eventFile;
  Progress progress;
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_METRICS_REPORTER_H
