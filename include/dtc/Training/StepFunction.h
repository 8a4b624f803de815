//===- StepFunction.h - arguments and results of a step ---------*- C++ -*-===//
//
// What passes on the whole step share: asking what the function's arguments
// and results are, replacing its results.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_TRAINING_STEPFUNCTION_H
#define DTC_TRAINING_STEPFUNCTION_H

#include "dtc/Dialect/Dialect.h"
#include "dtc/Training/FindFunction.h"

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

/// Whether gradients exist for values of this type.
bool isFloatTensor(mlir::Type type);

/// Values that a function returns, each with one string attribute.
class Results {
public:
  void add(mlir::Value value, llvm::StringRef name, llvm::StringRef string);
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

#endif // DTC_TRAINING_STEPFUNCTION_H
