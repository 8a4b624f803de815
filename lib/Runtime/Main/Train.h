//===- Train.h - a training program from start to end -----------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_MAIN_TRAIN_H
#define DTC_LIB_RUNTIME_MAIN_TRAIN_H

#include "dtc/Runtime/ABI.h"

namespace dtc::rt {

/// Parses the command line, starts the ranks, trains, saves; returns the exit
/// status.
int trainMain(const dtc_program &exported, int argc, char **argv);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_MAIN_TRAIN_H
