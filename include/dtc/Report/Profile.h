//===- Profile.h - how long tasks of a plan really took ---------*- C++ -*-===//
//
// Read from what a training program wrote with --trace: times instead of FLOPs
// as costs of a schedule, which may be another one.
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
    /// By name; two plans with the same of each stage have the same stages.
    std::vector<std::string> parameters;
    /// Median seconds of a task over micro-batches, steps and ranks, by its
    /// kind and chunk.
    std::map<std::pair<TaskKind, int64_t>, double> seconds;
  };

  std::string path, model, dtype;
  std::map<std::string, int64_t> mesh; ///< sizes of axes
  int64_t rows = 0;                    ///< of a micro-batch on a rank
  std::vector<Stage> stages;

  /// The error is one line with the file's name.
  static llvm::Expected<Profile> read(llvm::StringRef path);

  /// 1 if the mesh has no such axis.
  int64_t getSize(const std::string &axis) const;

  /// What each task takes in seconds in the plans of these modules, in the
  /// number of rows that they have: of virtual stages, as simulate() needs it.
  /// Fails with a diagnostic if they have other stages than the profile.
  mlir::FailureOr<std::vector<StageCost>>
  getCosts(llvm::ArrayRef<mlir::ModuleOp> modules) const;
};

} // namespace dtc

#endif // DTC_REPORT_PROFILE_H
