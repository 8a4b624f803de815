//===- CommandLine.h - the options that were given --------------*- C++ -*-===//
//
// `parseCommandLine` reads each option of the tables in include/dtc/Options
// into its field. What the tables do not say of values, and of options that go
// together, the functions here finish, in this order.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_DRIVER_COMMANDLINE_H
#define DTC_LIB_DRIVER_COMMANDLINE_H

#include "dtc/Driver/Driver.h"

namespace dtc {

/// Whether the command line has this option.
bool isGiven(llvm::StringRef option);

/// Makes ImportOptions of ModelOptions.
mlir::LogicalResult finishModel(DriverOptions &options);

/// Checks the plan, its schedule file included.
mlir::LogicalResult finishPlan(DriverOptions &options);

/// Checks the optimizer's settings and the numbers of the training.
mlir::LogicalResult finishTraining(DriverOptions &options);

/// Checks the target, and finds the device, its topology and the profile.
mlir::LogicalResult finishDevice(DriverOptions &options);

/// Finds the phases, and checks the names of files. `program` is dtc itself.
mlir::LogicalResult finishOutput(DriverOptions &options, const char *program);

/// Finds how much memory a rank may need, by --device-memory or --device.
mlir::LogicalResult finishDeviceMemory(DriverOptions &options);

} // namespace dtc

#endif // DTC_LIB_DRIVER_COMMANDLINE_H
