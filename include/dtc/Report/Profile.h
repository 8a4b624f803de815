//===- Profile.h - measured durations of a plan's tasks ---------*- C++ -*-===//
//
// Read from the file that a training program writes with --trace. The measured
// times replace FLOPs as the costs of a schedule, which may differ from the
// measured one.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_REPORT_PROFILE_H
#define DTC_REPORT_PROFILE_H

#include "dtc/Schedule/Order/Simulation.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"
#include <map>

namespace dtc {

struct Profile {
  struct Stage {
    /// Names of the parameters. Two plans have the same stages if the
    /// parameters of each stage agree.
    std::vector<std::string> parameters;
    /// Median seconds of a task over micro-batches, steps and ranks, by kind
    /// and chunk.
    std::map<std::pair<TaskKind, int64_t>, double> seconds;
  };

  std::string path, model, dtype;
  std::map<std::string, int64_t> mesh; ///< sizes of axes
  int64_t rows = 0;                    ///< of a micro-batch on a rank
  std::vector<Stage> stages;

  /// Reads a trace file. The error is one line with the file's name.
  static llvm::Expected<Profile> read(llvm::StringRef path);

  /// Size of an axis; 1 if the mesh does not have it.
  int64_t getSize(const std::string &axis) const;

  /// Seconds of each task in the plans of these modules, scaled to their number
  /// of rows: one cost for each virtual stage, as simulate() expects. Fails
  /// with a diagnostic if the stages differ from the profile's.
  mlir::FailureOr<std::vector<StageCost>>
  getCosts(llvm::ArrayRef<mlir::ModuleOp> modules) const;
};

} // namespace dtc

#endif // DTC_REPORT_PROFILE_H
