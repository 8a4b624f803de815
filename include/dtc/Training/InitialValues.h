//===- InitialValues.h - how parameters start -------------------*- C++ -*-===//
//
// From weights, or from a rule of the field.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_TRAINING_INITIALVALUES_H
#define DTC_TRAINING_INITIALVALUES_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"

namespace dtc {

/// How one parameter starts.
struct Initializer {
  enum Kind { Weights, Zeros, Ones, Normal };

  Kind kind;
  double deviation = 0; ///< of Normal: the standard deviation
};

/// By the parameter's name.
using Initializers = llvm::StringMap<Initializer>;

/// The initializer of every parameter of an imported module. `rule` is empty
/// (weights), normal (N(0, 0.02)), xavier (Glorot and Bengio 2010, normal) or
/// kaiming (He et al. 2015, normal, fan in). By any rule, scales of norms start
/// at one and other vectors at zero. Without a rule, a parameter that has no
/// weights is an error.
mlir::FailureOr<Initializers>
chooseInitializers(mlir::ModuleOp module, llvm::StringRef rule,
                   llvm::function_ref<bool(llvm::StringRef)> hasWeights);

} // namespace dtc

#endif // DTC_TRAINING_INITIALVALUES_H
