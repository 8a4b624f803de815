//===- DeviceMemory.h - whether a plan fits the devices ---------*- C++ -*-===//
//
// --device-memory: refuses a plan that needs too much, and says what would fit.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_DRIVER_DEVICEMEMORY_H
#define DTC_LIB_DRIVER_DEVICEMEMORY_H

#include "dtc/Pipelines/Pipelines.h"
#include "mlir/IR/BuiltinOps.h"

namespace dtc {

/// Fails, with one line, if a rank of the plan needs more than `limit` bytes;
/// `limitText` is how the user wrote it. Then `model`, as imported from options
/// with a global batch of `batch` samples, is planned again with other options
/// (FitMemory.h), and the line names those to add.
mlir::LogicalResult checkDeviceMemory(mlir::ModuleOp plan, mlir::ModuleOp model,
                                      const Strategy &options, int64_t batch,
                                      int64_t limit, llvm::StringRef limitText);

} // namespace dtc

#endif // DTC_LIB_DRIVER_DEVICEMEMORY_H
