//===- InitialValues.h - initial values of parameters -----------*- C++ -*-===//
//
// Parameters start from weights of the model, or from an initialization rule.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_TRAINING_INITIALVALUES_H
#define DTC_TRAINING_INITIALVALUES_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"

namespace dtc {

/// The initial values of one parameter.
struct Initializer {
  enum Kind { Weights, Zeros, Ones, Normal };

  Kind kind;
  double deviation = 0; ///< the standard deviation of Normal
};

/// Initializers by the parameter's name.
using Initializers = llvm::StringMap<Initializer>;

/// Chooses the initializer of every parameter of an imported module. `rule` is
/// empty (the model's weights), normal (N(0, 0.02)), xavier (Glorot and Bengio
/// 2010, normal) or kaiming (He et al. 2015, normal, fan in). With any rule,
/// scales of norms start at one, and other vectors at zero. Fails with a
/// diagnostic if the rule is empty and a parameter has no weights.
mlir::FailureOr<Initializers>
chooseInitializers(mlir::ModuleOp module, llvm::StringRef rule,
                   llvm::function_ref<bool(llvm::StringRef)> hasWeights);

} // namespace dtc

#endif // DTC_TRAINING_INITIALVALUES_H
