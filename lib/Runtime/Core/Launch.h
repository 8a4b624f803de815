//===- Launch.h - how the ranks come to life --------------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_CORE_LAUNCH_H
#define DTC_LIB_RUNTIME_CORE_LAUNCH_H

#include "Options.h"

namespace dtc::rt {

/// Whether mpirun, srun or the like started this process.
bool startedByLauncher();

/// Throws unless the plan's number of ranks was started; says what to type.
void checkRankCount(const Program &program, int found, int argc, char **argv);

/// Replaces this process by mpirun with `options.processes` ranks of it.
/// Returns only by throwing.
[[noreturn]] void relaunch(const Program &program, const Options &options,
                           int argc, char **argv);

/// Cores that each of `localRanks` ranks on this machine may use.
int coresPerRank(int localRanks);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_CORE_LAUNCH_H
