//===- DifferentiableInterface.h - gradients of ops -------------*- C++ -*-===//
//
// The interface that dtc-differentiate calls, and the registration of its
// models.
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

/// Attaches the gradient rules of all differentiable dtc ops. dtc-differentiate
/// needs them.
void registerGradients(mlir::DialectRegistry &registry);

/// The type of a value's gradient: the value's type, except for a weight that
/// is rounded to f16 or bf16 for its use, and then perhaps reshaped, transposed
/// or sent to another stage. The gradient of such a value is f32: it is
/// accumulated without rounding.
mlir::RankedTensorType getGradientType(mlir::Value value);

} // namespace dtc

#endif // DTC_TRAINING_DIFFERENTIABLEINTERFACE_H
