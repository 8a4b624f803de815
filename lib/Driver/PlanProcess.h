//===- PlanProcess.h - plans of command lines, each in a process -*- C++
//-*-===//
//
// Commands that print figures of several plans share these functions.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_DRIVER_PLANPROCESS_H
#define DTC_LIB_DRIVER_PLANPROCESS_H

#include "mlir/Support/LLVM.h"
#include "llvm/Support/JSON.h"
#include <string>
#include <vector>

namespace dtc {

/// Splits the text of a plan into options. Fails, after printing an error, if a
/// quote has no end.
mlir::FailureOr<std::vector<std::string>> splitPlan(llvm::StringRef plan);

/// Rejects an option for an output of a single plan, with an error that has the
/// reason: "dtc compare prints a table alone".
mlir::LogicalResult expectNoOutput(llvm::StringRef word,
                                   llvm::StringRef reason);

/// The report of a plan, or the reason why there is no plan.
struct PlanReport {
  llvm::json::Object report;
  std::string reason; ///< empty if there is a plan

  int64_t getPeakBytes() const; ///< largest memory of a rank
  /// The first expected time of a step; null if the report has no time.
  const llvm::json::Object *getExpectedTime() const;
};

/// Compiles a plan up to its schedule in a process of `program`, which is dtc.
/// Fails, after printing an error, if the process cannot run.
mlir::FailureOr<PlanReport>
compilePlan(llvm::StringRef program, llvm::ArrayRef<llvm::StringRef> options);

} // namespace dtc

#endif // DTC_LIB_DRIVER_PLANPROCESS_H
