//===- ScalePlans.h - plans over the number of ranks ------------*- C++ -*-===//

#ifndef DTC_DRIVER_SCALEPLANS_H
#define DTC_DRIVER_SCALEPLANS_H

#include "mlir/Support/LLVM.h"

namespace dtc {

/// `dtc scale MODEL.onnx --ranks N,... [OPTION...] --plan OPTIONS...`: prints
/// the expected time, speed-up and efficiency of each plan on each number of
/// ranks, or the reason why there is no plan, and draws them (Scaling.h).
/// Compiles plans like comparePlans. Fails, after printing the error, if no
/// plan is possible.
mlir::LogicalResult scalePlans(llvm::StringRef program,
                               llvm::ArrayRef<const char *> arguments);

} // namespace dtc

#endif // DTC_DRIVER_SCALEPLANS_H
