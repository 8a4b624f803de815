//===- Mpirun.h - a program that starts its own ranks -----------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_LAUNCH_MPIRUN_H
#define DTC_LIB_RUNTIME_LAUNCH_MPIRUN_H

#include "Options/Options.h"
#include "Program/Program.h"

namespace dtc::rt {

/// Starts mpirun with `options.processes` ranks of this program, waits for it
/// and returns its exit status. Signals that stop a training reach the ranks.
int relaunch(const Program &program, const Options &options, int argc,
             char **argv);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_LAUNCH_MPIRUN_H
