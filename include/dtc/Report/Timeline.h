//===- Timeline.h - the timeline of a pipeline schedule ---------*- C++ -*-===//
//
// The time of each task of each stage, as a picture (SVG) and for the trace
// viewers of Chrome and Perfetto (JSON).
//
//===----------------------------------------------------------------------===//

#ifndef DTC_REPORT_TIMELINE_H
#define DTC_REPORT_TIMELINE_H

#include "dtc/Schedule/Order/Simulation.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace dtc {

/// A simulated step. Costs and times are FLOPs of a rank, or seconds. It is the
/// expected step if the report has one.
struct Timeline {
  std::string name; ///< of the schedule
  int64_t microbatches = 1, rounds = 1;
  PipelineSchedule schedule;
  std::vector<StageCost> costs; ///< of virtual stages, as in simulate()
  Simulation simulation{0, 0, {}};
  /// Converts FLOPs to seconds for display; 1 if costs are seconds.
  std::optional<double> flopsPerSecond;
  bool isMeasured = false; ///< costs are from a profile

  /// Messages to or from one stage, or collectives of one kind over the same
  /// axes, at one time. They delay tasks only in an expected step.
  struct Communication {
    enum Kind { Send, Receive, Collective };
    Kind kind;
    std::string name; ///< "send to stage 1", "all_reduce dp"
    int64_t stage;
    int64_t count, bytes; ///< as in StageReport
    double start;
    double duration; ///< 0 without a topology; a message's is its send's
  };
  /// By stage and start. Communication with a duration does not overlap on one
  /// stage.
  std::vector<Communication> communication;

  /// Duration of each task, by stage in task order, waiting included, where it
  /// differs from `costs`.
  std::vector<std::vector<double>> durations;
  double getDuration(size_t stage, size_t task) const;
  /// Work that a stage runs once in a step, such as its update; empty if it
  /// takes no time.
  struct Once {
    std::string name;
    int64_t stage;
    double start, duration;
  };
  std::vector<Once> once;

  /// Number of virtual stages of each stage.
  int64_t getNumChunks() const { return costs.size() / schedule.size(); }

  /// Draws stages as rows and tasks in the colors of their kinds. Thin marks
  /// under a row are communication.
  void printSvg(llvm::raw_ostream &os) const;

  /// Returns a trace with a process for each stage: a row of tasks and, if
  /// needed, a row of communication. Without `flopsPerSecond`, a MFLOP takes 1
  /// us.
  llvm::json::Value toTrace() const;
};

} // namespace dtc

#endif // DTC_REPORT_TIMELINE_H
