//===- RankCount.h - the number of ranks that a plan needs ------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_LAUNCH_RANKCOUNT_H
#define DTC_LIB_RUNTIME_LAUNCH_RANKCOUNT_H

#include "Program/Program.h"

namespace dtc::rt {

/// Throws an Error, with the command to type, unless `found` is the number of
/// ranks of the plan.
void checkRankCount(const Program &program, int found, int argc, char **argv);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_LAUNCH_RANKCOUNT_H
