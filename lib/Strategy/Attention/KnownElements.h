//===- KnownElements.h - what follows from constants ------------*- C++ -*-===//

#ifndef DTC_LIB_STRATEGY_ATTENTION_KNOWNELEMENTS_H
#define DTC_LIB_STRATEGY_ATTENTION_KNOWNELEMENTS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include <memory>
#include <vector>

namespace dtc {

/// Values that follow from constants by comparisons, choices, arithmetic and
/// repetition. Computes each once; the IR does not change meanwhile.
class KnownElements {
public:
  /// The elements of floats or booleans; null if they are not known, or very
  /// many, of which one warning tells, whatever is made of them. Dimensions but
  /// the last along which a tensor repeats itself, as a mask does for each
  /// sample, have size 1.
  mlir::DenseElementsAttr get(mlir::Value value);

  /// The elements of floats or booleans [.., rows, columns] that depend on row
  /// - column alone, by that, from 1 - columns on: however many there are.
  /// None if it is not known that they do.
  std::optional<std::vector<double>> getDiagonals(mlir::Value value);

  /// Row-major elements, where a size of 1 stands for any that only repeats;
  /// none if they are not known, or very many.
  struct Few {
    llvm::SmallVector<int64_t> shape;
    std::shared_ptr<const std::vector<double>> elements;
  };
  std::optional<Few> getFew(mlir::Value value);
  /// Says that a mask has very many elements.
  static void warnOfComputed(mlir::Operation *mask);
  /// Whether an op is computed element by element here.
  static bool isMapped(mlir::Operation *op);
  /// Makes a number one of the type; false if that changes a whole number,
  /// which then may be another one in the program.
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
  bool hasTooMany = false; ///< elements, to be evaluated
};

} // namespace dtc

#endif // DTC_LIB_STRATEGY_ATTENTION_KNOWNELEMENTS_H
