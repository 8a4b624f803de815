//===- Reserve.h - memory of a GPU beside the arena -------------*- C++ -*-===//

#ifndef DTC_TARGET_CUDA_RESERVE_H
#define DTC_TARGET_CUDA_RESERVE_H

#include "mlir/IR/BuiltinOps.h"

namespace dtc {

/// Bytes that each rank of a planned module needs beside its arena on a GPU:
/// context and code, workspaces, constants, what communication holds.
int64_t getReservedDeviceBytes(mlir::ModuleOp module);

} // namespace dtc

#endif // DTC_TARGET_CUDA_RESERVE_H
