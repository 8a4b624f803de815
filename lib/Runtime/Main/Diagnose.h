//===- Diagnose.h - a test of the machine for a program ---------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_MAIN_DIAGNOSE_H
#define DTC_LIB_RUNTIME_MAIN_DIAGNOSE_H

#include "Options/Options.h"

namespace dtc::rt {

/// Prints the machine, libraries and devices that this process sees. Then tries
/// each library call of the plan by itself, and, under a launcher, collectives
/// between its ranks. An error does not stop it. Returns the program's exit
/// status.
int diagnose(Program &program, const Options &options);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_MAIN_DIAGNOSE_H
