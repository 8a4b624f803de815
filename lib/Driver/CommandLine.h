//===- CommandLine.h - parsed command line ----------------------*- C++ -*-===//
//
// `parseCommandLine` reads each option of the tables in include/dtc/Options
// into its field. The functions here check constraints that the tables do not
// express, on values and on combinations of options. They run in this order.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_DRIVER_COMMANDLINE_H
#define DTC_LIB_DRIVER_COMMANDLINE_H

#include "dtc/Driver/Driver.h"

namespace dtc {

/// Whether the command line has this option.
bool isGiven(llvm::StringRef option);

/// Converts ModelOptions to ImportOptions.
mlir::LogicalResult finishModel(DriverOptions &options);

/// Checks the plan, its schedule file included.
mlir::LogicalResult finishPlan(DriverOptions &options);

/// Checks the optimizer's settings and the numbers of the training.
mlir::LogicalResult finishTraining(DriverOptions &options);

/// Checks the target, and finds the device, its topology and the profile.
mlir::LogicalResult finishDevice(DriverOptions &options);

/// Finds the phases to run, and checks the names of files. `program` is dtc
/// itself.
mlir::LogicalResult finishOutput(DriverOptions &options, const char *program);

/// Finds the memory limit of a rank from --device-memory or --device.
mlir::LogicalResult finishDeviceMemory(DriverOptions &options);

} // namespace dtc

#endif // DTC_LIB_DRIVER_COMMANDLINE_H
