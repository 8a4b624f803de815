//===- Diagnose.h - what a machine has for a program ------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_MAIN_DIAGNOSE_H
#define DTC_LIB_RUNTIME_MAIN_DIAGNOSE_H

#include "Options/Options.h"

namespace dtc::rt {

/// Prints the machine, libraries and devices that this process sees, then the
/// library calls of the plan, each tried alone, then, under a launcher,
/// collectives between its ranks. Goes on after what fails. Returns the
/// program's exit status.
int diagnose(Program &program, const Options &options);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_MAIN_DIAGNOSE_H
