//===- FindFunction.h - the one function of a module ------------*- C++ -*-===//
//
// From import to SplitStages a module contains one function: first the model's
// forward pass, then the training step. ExpandTrainingOps adds the evaluation.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_DIALECT_FINDFUNCTION_H
#define DTC_DIALECT_FINDFUNCTION_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace dtc {

/// The function that import creates.
constexpr llvm::StringLiteral forwardName = "forward";
/// The training step, which AddLoss makes of the forward pass.
constexpr llvm::StringLiteral stepName = "step";
/// The evaluation: a result of @step, and the function that SplitStages makes
/// of it.
constexpr llvm::StringLiteral evalName = "eval";
/// The program of a server, which applies what a worker has pushed.
constexpr llvm::StringLiteral applyName = "apply";
/// The model's output, which evaluations can write to a file.
constexpr llvm::StringLiteral recordedName = "recorded";

/// Whether a result is the model's output.
bool isRecorded(mlir::func::FuncOp function, unsigned result);

/// Finds the function with this name and exactly one block. Fails with an error
/// on the module if there is none.
mlir::FailureOr<mlir::func::FuncOp> findFunction(mlir::ModuleOp module,
                                                 llvm::StringRef name);

} // namespace dtc

#endif // DTC_DIALECT_FINDFUNCTION_H
