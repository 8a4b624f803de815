//===- LinalgLowering.h - lowering of ops to linalg -------------*- C++ -*-===//
//
// The lowering interface of the dtc ops that kernels consist of, and the
// registration of its models.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LOWERING_LINALGLOWERING_H
#define DTC_LOWERING_LINALGLOWERING_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

#include "dtc/Lowering/LinalgLowering.h.inc"

namespace dtc {

/// Attaches a lowering to every dtc op that can be part of a kernel.
void registerLinalgLoweringModels(mlir::DialectRegistry &registry);

} // namespace dtc

#endif // DTC_LOWERING_LINALGLOWERING_H
