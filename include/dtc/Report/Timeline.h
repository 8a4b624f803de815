//===- Timeline.h - a pipeline schedule as people draw it -------*- C++ -*-===//
//
// When each task of each stage runs, as a picture (SVG) and for the trace
// viewers of Chrome and Perfetto (JSON).
//
//===----------------------------------------------------------------------===//

#ifndef DTC_REPORT_TIMELINE_H
#define DTC_REPORT_TIMELINE_H

#include "dtc/Schedule/Order/Simulation.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace dtc {

/// A simulated step. Costs and times are FLOPs of a rank, or seconds. Where the
/// report knows how long a step is expected to take, it is that step.
struct Timeline {
  std::string name; ///< of the schedule
  int64_t microbatches = 1, rounds = 1;
  PipelineSchedule schedule;
  std::vector<StageCost> costs; ///< of virtual stages, as simulate() has them
  Simulation simulation{0, 0, {}};
  /// To show seconds instead of FLOPs; 1 if costs are seconds.
  std::optional<double> flopsPerSecond;
  bool isMeasured = false; ///< costs are from a profile

  /// Messages to or from one stage, or collectives of one kind and axes, that
  /// a stage does at one time. They delay no task, but in an expected step.
  struct Communication {
    enum Kind { Send, Receive, Collective };
    Kind kind;
    std::string name; ///< "send to stage 1", "all_reduce dp"
    int64_t stage;
    int64_t count, bytes; ///< as in StageReport
    double start;
    double duration; ///< 0 without a topology; that of a message is its send's
  };
  /// By stage and start. What takes time does not overlap on one stage.
  std::vector<Communication> communication;

  /// How long each task takes, of each stage in the order of its tasks, where
  /// it is not as `costs` says; waiting within it included.
  std::vector<std::vector<double>> durations;
  double getDuration(size_t stage, size_t task) const;
  /// What a stage runs once in the step, such as its update; empty where that
  /// takes no time.
  struct Once {
    std::string name;
    int64_t stage;
    double start, duration;
  };
  std::vector<Once> once;

  /// How many virtual stages each stage has.
  int64_t getNumChunks() const { return costs.size() / schedule.size(); }

  /// Stages are rows; what a task is follows from its color. Communication is
  /// in thin marks under the row.
  void printSvg(llvm::raw_ostream &os) const;

  /// A process for each stage, with a row of tasks and one of communication, if
  /// there is any. Without `flopsPerSecond`, a MFLOP takes 1 us.
  llvm::json::Value toTrace() const;
};

} // namespace dtc

#endif // DTC_REPORT_TIMELINE_H
