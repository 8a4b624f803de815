//===- LinalgLowering.h - how an op becomes linalg --------------*- C++ -*-===//
//
// The lowering interface of dtc ops that kernels are made of, and the
// registration of its models.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LOWERING_LINALGLOWERING_H
#define DTC_LOWERING_LINALGLOWERING_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

#include "dtc/Lowering/LinalgLowering.h.inc"

namespace dtc {

/// Attaches the lowering of every dtc op that can be part of a kernel.
void registerLinalgLoweringModels(mlir::DialectRegistry &registry);

} // namespace dtc

#endif // DTC_LOWERING_LINALGLOWERING_H
