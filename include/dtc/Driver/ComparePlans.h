//===- ComparePlans.h - several plans of a model, side by side --*- C++ -*-===//

#ifndef DTC_DRIVER_COMPAREPLANS_H
#define DTC_DRIVER_COMPAREPLANS_H

#include "mlir/Support/LLVM.h"

namespace dtc {

/// `dtc compare MODEL.onnx [OPTION...] --plan OPTIONS... --plans FILE`: prints
/// a row for each plan, with the figures of its report (Report.h), or why it
/// cannot be. Each is compiled up to its schedule by a process of its own,
/// `program`, with the options that all share. Fails if nothing can be
/// compared, which has been printed.
mlir::LogicalResult comparePlans(llvm::StringRef program,
                                 llvm::ArrayRef<const char *> arguments);

} // namespace dtc

#endif // DTC_DRIVER_COMPAREPLANS_H
