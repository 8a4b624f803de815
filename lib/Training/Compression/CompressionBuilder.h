//===- CompressionBuilder.h - ops of compressed sums ------------*- C++ -*-===//
//
// The parts that all compressors share: elementwise ops on tensors of one
// element type, changes of layout, and state that a step keeps for the next.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_TRAINING_COMPRESSION_COMPRESSIONBUILDER_H
#define DTC_LIB_TRAINING_COMPRESSION_COMPRESSIONBUILDER_H

#include "dtc/Dialect/StepFunction.h"
#include "dtc/Training/Compressors.h"

namespace dtc {

/// A tensor in a row of a unit, which is compressed by itself where the
/// compressor does not work on blocks.
struct Segment {
  int64_t start, size;
};

/// Gradients that are compressed and exchanged together.
struct CompressionUnit {
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
struct CompressedSum {
  mlir::Value sum;  ///< [parts, elements]
  mlir::Value sent; ///< [ranks, parts, elements]: what each rank's codes stand
                    ///< for
};

class CompressionBuilder : public mlir::OpBuilder {
public:
  CompressionBuilder(mlir::func::FuncOp step, const CompressionUnit &unit,
                     const Compressor &compressor, bool keepsErrors,
                     int64_t number);

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
  /// Random numbers between 0 and 1, others in each step.
  mlir::Value random(llvm::ArrayRef<int64_t> shape);

  //===--- Exchange and state ---------------------------------------------===//

  /// The value where the unit's axis splits dimension `dim`; -1: whole.
  mlir::Value exchange(mlir::Value x, int64_t dim);

  /// value - sent, as state of the unit for the next step.
  void keepError(mlir::Value residual, mlir::Value value, mlir::Value sent,
                 llvm::StringRef state);
  /// The residual of [ranks, parts, elements], each rank's own; null if errors
  /// are not kept.
  mlir::Value getResidual();
  /// The residual of [parts, elements], split over the ranks; null as above.
  mlir::Value getSumResidual();

  const CompressionUnit &unit;
  const Compressor &compressor;
  mlir::Location loc;
  mlir::Type element; ///< of the gradient
  /// The new states, by name.
  llvm::SmallVector<std::pair<std::string, mlir::Value>> states;

private:
  mlir::Value addState(llvm::StringRef name, llvm::ArrayRef<int64_t> shape,
                       mlir::ArrayAttr members,
                       llvm::ArrayRef<std::pair<llvm::StringRef, int64_t>>
                           splits);

  mlir::func::FuncOp step;
  bool keepsErrors;
  int64_t number; ///< of the unit, for random numbers
  int64_t drawn = 0;
};

/// Sums the terms [ranks, parts, elements] of a unit by one kind of compressor.
CompressedSum sumBlockCodes(CompressionBuilder &b, mlir::Value terms);
CompressedSum sumSparseCodes(CompressionBuilder &b, mlir::Value terms);

} // namespace dtc

#endif // DTC_LIB_TRAINING_COMPRESSION_COMPRESSIONBUILDER_H
