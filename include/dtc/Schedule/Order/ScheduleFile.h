//===- ScheduleFile.h - a pipeline schedule that a user wrote ---*- C++ -*-===//
//
// A text file: a line for each stage, in order, of the tasks that it runs in a
// round, in order. What follows # is a comment.
//
//   F0 F1 B0 W0 B1 W1      # stage 0
//   F0 B0 F1 B1 W0 W1      # stage 1
//
// Tasks of chunk 1 of a stage, with virtual stages, are F0.1, B0.1, W0.1.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_SCHEDULE_ORDER_SCHEDULEFILE_H
#define DTC_SCHEDULE_ORDER_SCHEDULEFILE_H

#include "dtc/Schedule/Order/PipelineSchedule.h"
#include "llvm/Support/Error.h"

namespace dtc {

/// Whether this is a file rather than a misspelled schedule: it exists, or its
/// name has a '/' or a '.'.
bool isScheduleFile(llvm::StringRef name);

/// Reads the schedule of a round. An error is one line that begins with
/// "PATH: " or "PATH:LINE: ". What has been read can run: each stage has every
/// task once, F before B before W of a micro-batch, and no stages wait for each
/// other.
llvm::Expected<PipelineSchedule> readScheduleFile(llvm::StringRef path,
                                                  const Pipeline &pipeline);

/// The schedule of this name, or of such a file, as many rounds as asked for.
llvm::Expected<PipelineSchedule> getSchedule(llvm::StringRef nameOrPath,
                                             const Pipeline &pipeline);

} // namespace dtc

#endif // DTC_SCHEDULE_ORDER_SCHEDULEFILE_H
