//===- FindFunction.h - the one function of a module ------------*- C++ -*-===//
//
// From import to SplitStages a module holds one function: the model's forward
// pass, then the training step; at last the evaluation beside it.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_TRAINING_FINDFUNCTION_H
#define DTC_TRAINING_FINDFUNCTION_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace dtc {

/// What import makes.
constexpr llvm::StringLiteral forwardName = "forward";
/// What AddLoss makes of it.
constexpr llvm::StringLiteral stepName = "step";
/// What SplitStages makes of the result of this name.
constexpr llvm::StringLiteral evalName = "eval";

/// The function with this name and one block; failure, with an error on the
/// module, if there is none.
mlir::FailureOr<mlir::func::FuncOp> findFunction(mlir::ModuleOp module,
                                                 llvm::StringRef name);

} // namespace dtc

#endif // DTC_TRAINING_FINDFUNCTION_H
