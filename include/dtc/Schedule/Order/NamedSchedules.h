//===- NamedSchedules.h - schedules of the literature -----------*- C++ -*-===//
//
// GPipe, 1F1B, interleaved 1F1B, zero-bubble H1.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_SCHEDULE_ORDER_NAMEDSCHEDULES_H
#define DTC_SCHEDULE_ORDER_NAMEDSCHEDULES_H

#include "dtc/Schedule/Order/PipelineSchedule.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace dtc {

bool mustPrecedeInGPipe(const PipelineStage &, const Task &a, const Task &b);
bool mustPrecedeIn1F1B(const PipelineStage &, const Task &a, const Task &b);
bool mustPrecedeInInterleaved(const PipelineStage &, const Task &a,
                              const Task &b);
bool mustPrecedeInZBH1(const PipelineStage &, const Task &a, const Task &b);

/// "gpipe, 1f1b, interleaved, zb-h1", the names that makeNamedSchedule accepts.
extern const char *const scheduleNames;
bool isNamedSchedule(llvm::StringRef name);

/// Makes the schedule of a name for which isNamedSchedule holds. It runs
/// `numRounds` times, each time on the next micro-batches; a stage ends one
/// round before it begins the next. Fails with an error of one line: only
/// `gpipe` and `interleaved` allow several chunks, and `interleaved` then needs
/// a multiple of K micro-batches.
llvm::Expected<PipelineSchedule> makeNamedSchedule(llvm::StringRef name,
                                                   const Pipeline &pipeline);

/// The idle fraction of a round of a named schedule, which fills and drains the
/// pipeline once, with equal stages: (K - 1) / (V M + K - 1) if M >= K or V =
/// 1. For `zb-h1`, with equal times of F, B and W: (K - 1) / (3 M + K - 1) if M
/// >= K.
double getBubbleFraction(llvm::StringRef schedule, const Pipeline &pipeline);

} // namespace dtc

#endif // DTC_SCHEDULE_ORDER_NAMEDSCHEDULES_H
