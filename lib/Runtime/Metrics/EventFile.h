//===- EventFile.h - scalars for TensorBoard --------------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_METRICS_EVENTFILE_H
#define DTC_LIB_RUNTIME_METRICS_EVENTFILE_H

#include "Metrics.h"
#include "RecordFile.h"

namespace dtc::rt {

/// A TFRecord: length and data, each with its checksum
/// (tensorflow/core/lib/io/record_writer.h).
std::string makeRecord(std::string_view data);

/// A new file in a folder, DIR/events.out.tfevents.SECONDS.HOST.PID:
/// TensorBoard shows all files of a folder as one run. Records are Event
/// messages (tensorflow/core/util/event.proto) with simple values.
class EventFile {
public:
  /// An empty path writes nothing. Where a run resumes after a step,
  /// TensorBoard is told to forget what it has of the steps that follow. Throws
  /// if the file cannot be created.
  EventFile(const std::string &directory, std::optional<int64_t> resumedAtStep);

  /// Return a warning, as RecordFile does.
  std::string write(const StepMetrics &metrics);
  std::string write(const EvalMetrics &metrics);

private:
  template <typename Metrics> std::string writeEvent(const Metrics &metrics);

  RecordFile file;
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_METRICS_EVENTFILE_H
