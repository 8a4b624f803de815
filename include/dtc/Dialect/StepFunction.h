//===- StepFunction.h - arguments and results of a step ---------*- C++ -*-===//
//
// What passes on the whole step share: asking what the function's arguments
// and results are, replacing its results.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_DIALECT_STEPFUNCTION_H
#define DTC_DIALECT_STEPFUNCTION_H

#include "dtc/Dialect/Dialect.h"
#include "dtc/Dialect/FindFunction.h"

namespace dtc {

mlir::func::ReturnOp getReturn(mlir::func::FuncOp func);

/// The tensor of the model that a parameter is, or is a part of.
llvm::StringRef getTensorName(mlir::BlockArgument parameter);

/// The string that an argument has under an attribute name; null if none.
mlir::StringAttr getArgString(mlir::BlockArgument argument,
                              llvm::StringRef name);
mlir::StringAttr getResultString(mlir::func::FuncOp func, unsigned result,
                                 llvm::StringRef name);

/// The result with this string under an attribute name; none if there is none.
std::optional<unsigned> findResult(mlir::func::FuncOp func,
                                   llvm::StringRef name,
                                   llvm::StringRef string);

/// Kinds of scalar inputs of a step in fp16: what the loss, and so each
/// gradient, is multiplied by, and the number of the update, counted from 1,
/// which skipped steps have none of.
constexpr llvm::StringLiteral lossScaleKind = "loss_scale";
constexpr llvm::StringLiteral updatesKind = "updates";
/// How many replicas there are, where that is known at launch only.
constexpr llvm::StringLiteral replicasKind = "replicas";

/// What a new input is called: this, or, where the model has such an input,
/// this with underscores.
mlir::StringAttr getFreeInputName(mlir::func::FuncOp step,
                                  llvm::StringRef name);

/// The scalar input of a kind (`dtc.kind`), which the program fills; null if
/// there is none.
mlir::Value findScalarInput(mlir::func::FuncOp step, llvm::StringRef kind);
/// The same, added after the last input if there is none yet.
mlir::FailureOr<mlir::Value> getScalarInput(mlir::func::FuncOp step,
                                            llvm::StringRef kind);

/// Whether gradients exist for values of this type.
bool isFloatTensor(mlir::Type type);

/// Values that a function returns, each with one string attribute, and those
/// that stand for a flat parameter with its members.
class Results {
public:
  void add(mlir::Value value, llvm::StringRef name, llvm::StringRef string,
           mlir::Attribute members = {});
  /// Adds what the function returns under this attribute name.
  void keep(mlir::func::FuncOp func, llvm::StringRef name);
  /// Makes them the only results of the function.
  void assignTo(mlir::func::FuncOp func) const;

private:
  llvm::SmallVector<mlir::Value> values;
  llvm::SmallVector<mlir::Attribute> attributes;
};

/// Erases ops without users, users first, from the function's end up to
/// `first`, or to the start if it is null.
void eraseDeadOps(mlir::func::FuncOp func, mlir::Operation *first = nullptr);

} // namespace dtc

#endif // DTC_DIALECT_STEPFUNCTION_H
