//===- Driver.h - from command line to executable ---------------*- C++ -*-===//
//
// Runs the phases on one model, writes what was asked for, links.
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

/// The options of dtc, and what `parseCommandLine` makes of them.
struct DriverOptions : OutputOptions {
  ModelOptions model;
  CompileOptions compile;
  CompilePhase stopAfter = CompilePhase::Link;
  /// Print the IR at the end of this phase, and stop.
  std::optional<CompilePhase> emit;
  CompilePhase getLastPhase() const {
    return std::min(stopAfter, emit.value_or(stopAfter));
  }
  /// Write the IR to `output` where no program is made.
  bool writeIr = false;
  bool needsReport() const {
    return report || !reportJson.empty() || !timeline.empty();
  }
  /// Bytes that a rank's plan may need; `deviceMemoryText` says where from.
  std::optional<int64_t> deviceMemory;
  const Device *device = nullptr; ///< that the program is for, if it is known
  /// The machines that the figures' times are for.
  std::optional<Topology> topology;
  /// Measured times, for the simulation of the schedule.
  std::optional<Profile> profile;
  bool embedsWeights() const { return weights == "embed"; }
  /// Files that are written, with the options that name them.
  std::vector<std::pair<std::string, std::string>> getOutputs() const;
  bool readsInitialWeights() const {
    return !model.init.empty() && model.init != "normal" &&
           model.init != "xavier" && model.init != "kaiming";
  }
  /// Called on the IR at the end of each phase but the last, before it is
  /// shown: how tests plant bugs.
  std::function<mlir::LogicalResult(CompilePhase, mlir::ModuleOp)> afterPhase;
};

/// Reads the command line. What is wrong with it has been printed when there
/// is no result; --help and --version exit.
std::optional<DriverOptions> parseCommandLine(int argc, char **argv);

/// Compiles one model. Everything that goes wrong has been printed, one line
/// each, when this fails.
mlir::LogicalResult compileModel(const DriverOptions &options);

/// Links object files with the target's runtime into an executable, the
/// output's temporary file.
mlir::LogicalResult linkProgram(llvm::ArrayRef<std::string> objects,
                                const Target &target,
                                llvm::StringRef runtimeDir, OutputFile &output);

} // namespace dtc

#endif // DTC_DRIVER_DRIVER_H
