//===- DeviceMemory.h - check of a plan against device memory ---*- C++ -*-===//
//
// --device-memory: rejects a plan that needs too much memory, and suggests
// options with which it would fit.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_DRIVER_DEVICEMEMORY_H
#define DTC_LIB_DRIVER_DEVICEMEMORY_H

#include "dtc/Pipelines/Pipelines.h"
#include "mlir/IR/BuiltinOps.h"

namespace dtc {

/// Fails, with one line, if a rank of the plan needs more than `limit` bytes.
/// `limitText` is the limit as the user wrote it. Then plans `model`, the
/// imported module with a global batch of `batch` samples, with other options
/// (FitMemory.h). The line names the options to add.
mlir::LogicalResult checkDeviceMemory(mlir::ModuleOp plan, mlir::ModuleOp model,
                                      const Strategy &options, int64_t batch,
                                      int64_t limit, llvm::StringRef limitText);

} // namespace dtc

#endif // DTC_LIB_DRIVER_DEVICEMEMORY_H
