//===- ComparePlans.h - several plans of a model, side by side --*- C++ -*-===//

#ifndef DTC_DRIVER_COMPAREPLANS_H
#define DTC_DRIVER_COMPAREPLANS_H

#include "mlir/Support/LLVM.h"

namespace dtc {

/// `dtc compare MODEL.onnx [OPTION...] --plan OPTIONS... --plans FILE`: prints
/// a table with one row for each plan, which has the figures of its report
/// (Report.h), or the reason why there is no plan. `program`, a process for
/// each plan, compiles it up to the schedule with the shared options. Fails,
/// after printing the error, if there is nothing to compare.
mlir::LogicalResult comparePlans(llvm::StringRef program,
                                 llvm::ArrayRef<const char *> arguments);

} // namespace dtc

#endif // DTC_DRIVER_COMPAREPLANS_H
