//===- MetricsFile.h - a JSON object for each step --------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_METRICS_METRICSFILE_H
#define DTC_LIB_RUNTIME_METRICS_METRICSFILE_H

#include "Metrics.h"
#include "Options/Options.h"
#include "RecordFile.h"

namespace dtc::rt {

/// One JSON object per line (docs/Metrics.md): a description of the run, then
/// the steps. Numbers are the shortest that read back to the same bits, and
/// null where JSON has no number (NaN, infinity).
class MetricsFile {
public:
  /// Writes to `options.metrics`, if not empty. A run that resumes after a step
  /// appends to the file of that name; another renames it. Throws when the file
  /// cannot be created.
  MetricsFile(const Program &program, const Options &options,
              std::optional<int64_t> resumedAtStep);

  /// Says what happened to the former file of this name; empty if there was
  /// none.
  const std::string &note() const { return formerNote; }
  /// Return a warning, as RecordFile does.
  std::string write(const StepMetrics &metrics);
  std::string write(const EvalMetrics &metrics);

private:
  template <typename Metrics> std::string writeLine(const Metrics &metrics);

  RecordFile file;
  std::string formerNote;
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_METRICS_METRICSFILE_H
