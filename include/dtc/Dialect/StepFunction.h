//===- StepFunction.h - arguments and results of a step ---------*- C++ -*-===//
//
// Shared by passes on the whole step: finding the function's arguments and
// results, and replacing its results.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_DIALECT_STEPFUNCTION_H
#define DTC_DIALECT_STEPFUNCTION_H

#include "dtc/Dialect/Dialect.h"
#include "dtc/Dialect/FindFunction.h"

namespace dtc {

mlir::func::ReturnOp getReturn(mlir::func::FuncOp func);

/// The name of the model's tensor that a parameter is, or is a part of.
llvm::StringRef getTensorName(mlir::BlockArgument parameter);

/// The string attribute of an argument; null if there is none.
mlir::StringAttr getArgString(mlir::BlockArgument argument,
                              llvm::StringRef name);
mlir::StringAttr getResultString(mlir::func::FuncOp func, unsigned result,
                                 llvm::StringRef name);

/// The index of the result with this string attribute; none if there is none.
std::optional<unsigned> findResult(mlir::func::FuncOp func,
                                   llvm::StringRef name,
                                   llvm::StringRef string);

/// Kinds of scalar inputs of a step in fp16: the factor of the loss, and so of
/// each gradient; and the number of the update, counted from 1 without skipped
/// steps.
constexpr llvm::StringLiteral lossScaleKind = "loss_scale";
constexpr llvm::StringLiteral updatesKind = "updates";
/// Kind of the input with the training's seed.
constexpr llvm::StringLiteral seedKind = "seed";
/// Kind of the input with the number of replicas, if only the launch sets it.
constexpr llvm::StringLiteral replicasKind = "replicas";

/// The name of a new input: `name`, with underscores if the model has such an
/// input.
mlir::StringAttr getFreeInputName(mlir::func::FuncOp step,
                                  llvm::StringRef name);

/// The scalar input of a kind (`dtc.kind`), which the program provides; null if
/// there is none.
mlir::Value findScalarInput(mlir::func::FuncOp step, llvm::StringRef kind);
/// Like findScalarInput, but adds the input after the last one if there is
/// none.
mlir::FailureOr<mlir::Value> getScalarInput(mlir::func::FuncOp step,
                                            llvm::StringRef kind);

/// The name of the state that is a parameter's moving average.
constexpr llvm::StringLiteral averageStateName = "ema";
/// The name of the state that is what a worker pushes to a server: a gradient,
/// or the change of a running statistic.
constexpr llvm::StringLiteral pushedStateName = "pushed";
/// Whether this is the name of such a state; false for null.
bool isPushedState(mlir::StringAttr state);
/// The gradient, before it is clipped, that a result is or that it pushes; null
/// for other results.
mlir::Value getGradient(mlir::func::FuncOp step, unsigned result);

/// Whether an argument of a step is kept and changed: a state, a trained
/// parameter, or a running statistic.
bool isKept(mlir::func::FuncOp step, unsigned argument);

/// Whether gradients exist for values of this type.
bool isFloatTensor(mlir::Type type);

/// Values that a function returns, each with one string attribute. Flat
/// parameters also have their members.
class Results {
public:
  void add(mlir::Value value, llvm::StringRef name, llvm::StringRef string,
           mlir::Attribute members = {});
  void add(mlir::Value value, mlir::DictionaryAttr attributes);
  /// Adds the results that have this attribute, or all.
  void keep(mlir::func::FuncOp func, llvm::StringRef name);
  void keepAll(mlir::func::FuncOp func);
  void append(const Results &others);
  /// Replaces the function's results by these.
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
