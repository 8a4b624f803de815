//===- Launch.h - how the ranks come to life --------------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_CORE_LAUNCH_H
#define DTC_LIB_RUNTIME_CORE_LAUNCH_H

#include "Options.h"

namespace dtc::rt {

/// Whether mpirun, srun, torchrun or the like started this process. Throws an
/// Error if their variables make no sense.
bool startedByLauncher();

/// Throws unless the plan's number of ranks was started; says what to type.
void checkRankCount(const Program &program, int found, int argc, char **argv);

/// Starts mpirun with `options.processes` ranks of this program, waits for it
/// and returns its exit status. Signals that stop a training reach the ranks.
int relaunch(const Program &program, const Options &options, int argc,
             char **argv);

/// Whether who started this program has it ignore the signal.
bool isIgnored(int signal);

/// Cores that each of `localRanks` ranks on this machine may use.
int coresPerRank(int localRanks);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_CORE_LAUNCH_H
