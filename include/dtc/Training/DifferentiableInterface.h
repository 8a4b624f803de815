//===- DifferentiableInterface.h - gradients of ops -------------*- C++ -*-===//
//
// The interface that dtc-differentiate asks, and the registration of the
// models that implement it.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_TRAINING_DIFFERENTIABLEINTERFACE_H
#define DTC_TRAINING_DIFFERENTIABLEINTERFACE_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"

#include "dtc/Training/DifferentiableInterface.h.inc"

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace dtc {

/// Attaches the gradients of all differentiable dtc ops. A context that runs
/// dtc-differentiate needs them.
void registerGradients(mlir::DialectRegistry &registry);

/// The type of the gradient of a value: the value's, but in f32 where the value
/// is a weight that was rounded to f16 or bf16 for its use, then perhaps
/// reshaped, transposed or sent to another stage. Such gradients are summed up
/// and never rounded.
mlir::RankedTensorType getGradientType(mlir::Value value);

} // namespace dtc

#endif // DTC_TRAINING_DIFFERENTIABLEINTERFACE_H
