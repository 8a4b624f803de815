//===- FindFunction.h - the one function of a module ------------*- C++ -*-===//
//
// From import to SplitStages a module holds one function: the model's forward
// pass, then the training step; at last the evaluation beside it.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_DIALECT_FINDFUNCTION_H
#define DTC_DIALECT_FINDFUNCTION_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace dtc {

/// What import makes.
constexpr llvm::StringLiteral forwardName = "forward";
/// What AddLoss makes of it.
constexpr llvm::StringLiteral stepName = "step";
/// What SplitStages makes of the result of this name.
constexpr llvm::StringLiteral evalName = "eval";
/// The result that is the model's output, for evaluations to write.
constexpr llvm::StringLiteral recordedName = "recorded";

/// Whether a result is the model's output.
bool isRecorded(mlir::func::FuncOp function, unsigned result);

/// The function with this name and one block; failure, with an error on the
/// module, if there is none.
mlir::FailureOr<mlir::func::FuncOp> findFunction(mlir::ModuleOp module,
                                                 llvm::StringRef name);

} // namespace dtc

#endif // DTC_DIALECT_FINDFUNCTION_H
