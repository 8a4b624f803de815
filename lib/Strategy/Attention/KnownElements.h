//===- KnownElements.h - values known from constants ------------*- C++ -*-===//

#ifndef DTC_LIB_STRATEGY_ATTENTION_KNOWNELEMENTS_H
#define DTC_LIB_STRATEGY_ATTENTION_KNOWNELEMENTS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include <memory>
#include <vector>

namespace dtc {

/// Evaluates values that follow from constants by comparisons, choices,
/// arithmetic and repetition. Caches each value, so the IR must not change
/// meanwhile.
class KnownElements {
public:
  /// The elements of floats or booleans; null if they are not known or too
  /// many. The first time they are too many, a warning says so. A dimension
  /// other than the last along which the tensor repeats, as a mask does for
  /// each sample, has size 1.
  mlir::DenseElementsAttr get(mlir::Value value);

  /// The elements of a tensor of floats or booleans [.., rows, columns] that
  /// depend only on row - column, indexed from 1 - columns on. Its size is not
  /// limited. None if this is not known.
  std::optional<std::vector<double>> getDiagonals(mlir::Value value);

  /// Row-major elements; a dimension that only repeats has size 1. None if the
  /// elements are not known or too many.
  struct Few {
    llvm::SmallVector<int64_t> shape;
    std::shared_ptr<const std::vector<double>> elements;
  };
  std::optional<Few> getFew(mlir::Value value);
  /// Warns that a mask has too many elements.
  static void warnOfComputed(mlir::Operation *mask);
  /// Whether an op is evaluated element by element here.
  static bool isMapped(mlir::Operation *op);
  /// Converts a number to the type. Returns false if this changes an integer,
  /// because the program may then compute a different one.
  static bool convert(double &x, mlir::Type type);

private:
  using Result = std::shared_ptr<const Few>; ///< null if not known
  Result evaluate(mlir::Value value);
  Result evaluate(mlir::Operation *op, llvm::ArrayRef<int64_t> shape);
  Result map(mlir::Operation *op);
  static Result make(llvm::ArrayRef<int64_t> shape,
                     std::vector<double> numbers);
  static Result read(mlir::DenseElementsAttr constant);
  static Result reshape(const Few &x, llvm::ArrayRef<int64_t> from,
                        llvm::ArrayRef<int64_t> to);

  llvm::DenseMap<mlir::Value, Result> known;
  bool hasTooMany = false; ///< too many elements to evaluate
};

} // namespace dtc

#endif // DTC_LIB_STRATEGY_ATTENTION_KNOWNELEMENTS_H
