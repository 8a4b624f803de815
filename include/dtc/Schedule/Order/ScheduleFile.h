//===- ScheduleFile.h - pipeline schedules from files -----------*- C++ -*-===//
//
// A text file with one line for each stage: the tasks that the stage runs in a
// round, in order. A # begins a comment.
//
//   F0 F1 B0 W0 B1 W1      # stage 0
//   F0 B0 F1 B1 W0 W1      # stage 1
//
// With virtual stages, tasks of chunk 1 of a stage are F0.1, B0.1, W0.1.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_SCHEDULE_ORDER_SCHEDULEFILE_H
#define DTC_SCHEDULE_ORDER_SCHEDULEFILE_H

#include "dtc/Schedule/Order/PipelineSchedule.h"
#include "llvm/Support/Error.h"

namespace dtc {

/// Whether a name is a file rather than a misspelled schedule: the file exists,
/// or the name has a '/' or a '.'.
bool isScheduleFile(llvm::StringRef name);

/// Reads the schedule of a round. An error is one line that begins with "PATH:
/// " or "PATH:LINE: ". The result can run: each stage has every task once, F
/// comes before B before W of a micro-batch, and there is no deadlock.
llvm::Expected<PipelineSchedule> readScheduleFile(llvm::StringRef path,
                                                  const Pipeline &pipeline);

/// Returns the schedule of this name, or reads it from a file, for all rounds.
llvm::Expected<PipelineSchedule> getSchedule(llvm::StringRef nameOrPath,
                                             const Pipeline &pipeline);

} // namespace dtc

#endif // DTC_SCHEDULE_ORDER_SCHEDULEFILE_H
