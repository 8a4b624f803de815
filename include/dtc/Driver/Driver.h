//===- Driver.h - from command line to executable ---------------*- C++ -*-===//
//
// Runs the phases on one model, writes the requested outputs, and links.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_DRIVER_DRIVER_H
#define DTC_DRIVER_DRIVER_H

#include "dtc/Options/Options.h"
#include "dtc/Pipelines/Pipelines.h"
#include "dtc/Report/Devices.h"
#include "dtc/Report/Profile.h"
#include "dtc/Report/Topology.h"
#include "dtc/Support/OutputFile.h"
#include <algorithm>
#include <functional>

namespace dtc {

/// The options of dtc, and the values that `parseCommandLine` derives from
/// them.
struct DriverOptions : OutputOptions {
  ModelOptions model;
  CompileOptions compile;
  CompilePhase stopAfter = CompilePhase::Link;
  /// Print the IR at the end of this phase, and stop.
  std::optional<CompilePhase> emit;
  CompilePhase getLastPhase() const {
    return std::min(stopAfter, emit.value_or(stopAfter));
  }
  /// Write the IR to `output` instead of a program.
  bool writeIr = false;
  bool needsReport() const {
    return report || !reportJson.empty() || !timeline.empty();
  }
  /// Limit of a rank's memory in bytes. `deviceMemoryText` is the option that
  /// sets it.
  std::optional<int64_t> deviceMemory;
  const Device *device = nullptr; ///< that runs the program; null if unknown
  /// The topology that the report's times assume.
  std::optional<Topology> topology;
  /// Measured times, for the simulation of the schedule.
  std::optional<Profile> profile;
  bool embedsWeights() const { return weights == "embed"; }
  /// The files that the compiler writes, with the options that name them.
  std::vector<std::pair<std::string, std::string>> getOutputs() const;
  bool readsInitialWeights() const {
    return !model.init.empty() && model.init != "normal" &&
           model.init != "xavier" && model.init != "kaiming";
  }
  /// Called with the IR at the end of each phase except the last, before it is
  /// printed. Tests use it to plant bugs.
  std::function<mlir::LogicalResult(CompilePhase, mlir::ModuleOp)> afterPhase;
};

/// Reads the command line. Returns none after printing an error. --help and
/// --version exit.
std::optional<DriverOptions> parseCommandLine(int argc, char **argv);

/// Compiles one model. Fails after printing each error as one line.
mlir::LogicalResult compileModel(const DriverOptions &options);

/// Links object files with the target's runtime into an executable, the
/// temporary file of the output. Fails after printing an error.
mlir::LogicalResult linkProgram(llvm::ArrayRef<std::string> objects,
                                const Target &target,
                                llvm::StringRef runtimeDir, OutputFile &output);

} // namespace dtc

#endif // DTC_DRIVER_DRIVER_H
