//===- DifferentiableInterface.h - gradients of ops -------------*- C++ -*-===//
//
// The interface that dtc-differentiate asks, and the registration of the
// models that implement it.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_TRAINING_DIFFERENTIABLEINTERFACE_H
#define DTC_TRAINING_DIFFERENTIABLEINTERFACE_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

#include "dtc/Training/DifferentiableInterface.h.inc"

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace dtc {

/// Attaches the gradients of all differentiable dtc ops. A context that runs
/// dtc-differentiate needs them.
void registerGradients(mlir::DialectRegistry &registry);

} // namespace dtc

#endif // DTC_TRAINING_DIFFERENTIABLEINTERFACE_H
