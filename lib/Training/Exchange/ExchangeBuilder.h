//===- ExchangeBuilder.h - ops of exchanged gradients -----------*- C++ -*-===//
//
// The parts that all compressors share: elementwise ops on tensors of one
// element type, changes of layout, and state that a step keeps for the next.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_TRAINING_EXCHANGE_EXCHANGEBUILDER_H
#define DTC_LIB_TRAINING_EXCHANGE_EXCHANGEBUILDER_H

#include "dtc/Dialect/StepFunction.h"
#include "dtc/Training/Compressors.h"

namespace dtc {

/// A tensor in a row of a unit.
struct Segment {
  std::string name;
  int64_t start, size;
  int64_t rows; ///< of the matrix [rows, size / rows] that it is

  int64_t getColumns() const { return size / rows; }
};

/// Gradients that are exchanged together.
struct ExchangeUnit {
  std::string name;
  /// The sum, [parts, elements], that ranks of `axis` have terms of.
  mlir::Value gradient;
  mlir::StringAttr axis;
  int64_t ranks; ///< size of the axis
  int64_t parts; ///< that tp makes
  /// The axis that splits the elements of a row before they are compressed, and
  /// its size: that of a group of ZeRO.
  llvm::StringRef shardAxis;
  int64_t shards = 1;
  bool isSharded = false; ///< `axis` splits the elements of the sum
  llvm::SmallVector<Segment> segments;
  mlir::ArrayAttr members;
};

/// The sum of what the ranks have sent.
struct ExchangedSum {
  mlir::Value sum;  ///< [parts, elements]
  mlir::Value sent; ///< [ranks, parts, elements]: what each rank's codes stand
                    ///< for
};

inline mlir::RankedTensorType getTensorType(mlir::Value x) {
  return mlir::cast<mlir::RankedTensorType>(x.getType());
}

/// Asks for a layout of the op's result: the axis splits dimension `dim`; -1:
/// whole.
void setSplit(mlir::Operation *op, mlir::StringAttr axis, int64_t dim);

class ExchangeBuilder : public mlir::OpBuilder {
public:
  ExchangeBuilder(mlir::func::FuncOp step, const ExchangeUnit &unit,
                  const Compressor &compressor, ErrorFeedback feedback);

  //===--- Elements -------------------------------------------------------===//

  mlir::Value constant(double value);
  mlir::Value constant(llvm::ArrayRef<int64_t> shape,
                       llvm::ArrayRef<double> values);
  mlir::Value cast(mlir::Value x, mlir::Type element);
  mlir::Value reshape(mlir::Value x, llvm::ArrayRef<int64_t> shape);
  /// Sum or maximum over a dimension, which stays with size 1.
  mlir::Value sum(mlir::Value x, int64_t dim);
  mlir::Value max(mlir::Value x, int64_t dim);
  template <typename Op> mlir::Value unary(mlir::Value x) {
    return Op::create(*this, loc, x);
  }
  template <typename Op> mlir::Value binary(mlir::Value a, mlir::Value b) {
    return Op::create(*this, loc, a, b);
  }
  mlir::Value compare(Comparison comparison, mlir::Value a, mlir::Value b) {
    return CompareOp::create(*this, loc, comparison, a, b);
  }
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b) {
    return SelectOp::create(*this, loc, condition, a, b);
  }
  mlir::Value slice(mlir::Value x, int64_t dim, int64_t start, int64_t size);
  mlir::Value concat(llvm::ArrayRef<mlir::Value> parts, int64_t dim);
  /// Zeros after the elements of the last dimension, up to a size.
  mlir::Value pad(mlir::Value x, int64_t size);
  mlir::Value broadcast(mlir::Value x, llvm::ArrayRef<int64_t> shape);
  /// Random numbers between 0 and 1, others in each step and for each segment
  /// and `use`. The same under every plan.
  mlir::Value random(const Segment &segment, llvm::ArrayRef<int64_t> shape,
                     llvm::StringRef use);

  //===--- Exchange and state ---------------------------------------------===//

  /// The value where the unit's axis splits dimension `dim`; -1: whole.
  mlir::Value exchange(mlir::Value x, int64_t dim);

  /// A state of [ranks, parts, elements], each rank's own.
  mlir::Value addStateOfTerms(llvm::StringRef name);
  /// A state of [parts, elements]; if `isSplit`, the unit's axis splits it.
  mlir::Value addStateOfSum(llvm::StringRef name, bool isSplit);
  /// A state of [parts, elements] that all ranks have, with members of own
  /// types.
  mlir::Value addOwnState(llvm::StringRef name, int64_t elements,
                          mlir::ArrayAttr members);
  /// Keeps the value as the new state; with `always`, in skipped steps, too.
  void keep(mlir::Value state, mlir::Value value, bool always = false);

  const ExchangeUnit &unit;
  const Compressor &compressor;
  ErrorFeedback feedback;
  mlir::Location loc;
  mlir::Type element; ///< of the gradient
  struct KeptState {
    std::string name;
    mlir::Value value;
    mlir::Attribute members;
  };
  llvm::SmallVector<KeptState> states;

private:
  mlir::Value
  addState(llvm::StringRef name, llvm::ArrayRef<int64_t> shape,
           mlir::ArrayAttr members,
           llvm::ArrayRef<std::pair<llvm::StringRef, int64_t>> splits);

  mlir::func::FuncOp step;
};

/// Sums the terms [ranks, parts, elements] of a unit, by one kind of
/// compressor.
ExchangedSum sumBlockCodes(ExchangeBuilder &b, mlir::Value terms);
ExchangedSum sumSparseCodes(ExchangeBuilder &b, mlir::Value terms);
ExchangedSum sumFactors(ExchangeBuilder &b, mlir::Value terms);

} // namespace dtc

#endif // DTC_LIB_TRAINING_EXCHANGE_EXCHANGEBUILDER_H
