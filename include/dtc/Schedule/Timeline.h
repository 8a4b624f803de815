//===- Timeline.h - a pipeline schedule as people draw it -------*- C++ -*-===//
//
// When each task of each stage runs, as a picture (SVG) and for the trace
// viewers of Chrome and Perfetto (JSON).
//
//===----------------------------------------------------------------------===//

#ifndef DTC_SCHEDULE_TIMELINE_H
#define DTC_SCHEDULE_TIMELINE_H

#include "dtc/Schedule/PipelineSchedule.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace dtc {

/// A simulated step. Costs and times are FLOPs of a rank, or seconds.
struct Timeline {
  std::string name; ///< of the schedule
  int64_t microbatches = 1, rounds = 1;
  PipelineSchedule schedule;
  std::vector<StageCost> costs; ///< of virtual stages, as simulate() has them
  Simulation simulation{0, 0, {}};
  /// To show seconds instead of FLOPs; 1 if costs are seconds.
  std::optional<double> flopsPerSecond;
  bool isMeasured = false; ///< costs are from a profile

  /// How many virtual stages each stage has.
  int64_t getNumChunks() const { return costs.size() / schedule.size(); }

  /// Stages are rows; what a task is follows from its color.
  void printSvg(llvm::raw_ostream &os) const;

  /// A process for each stage. Without `flopsPerSecond`, a MFLOP takes 1 us.
  llvm::json::Value toTrace() const;
};

} // namespace dtc

#endif // DTC_SCHEDULE_TIMELINE_H
