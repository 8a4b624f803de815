//===- StructuredBuilder.h - linalg from scalar functions -------*- C++ -*-===//
//
// Builds linalg ops on tensors from functions on scalars: maps with NumPy
// broadcasting and reductions. All lowerings of dtc ops are written with it.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_LOWERING_COMMON_STRUCTUREDBUILDER_H
#define DTC_LIB_LOWERING_COMMON_STRUCTUREDBUILDER_H

#include "dtc/Dialect/Dialect.h"
#include "dtc/Lowering/LinalgLowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace dtc {

/// The combination of two elements in a reduction.
enum class Combiner {
  Sum,
  Max,       ///< NaN if any element is
  MaxNumber, ///< ignores NaN; cheaper
};

class StructuredBuilder : public mlir::ImplicitLocOpBuilder {
public:
  using ImplicitLocOpBuilder::ImplicitLocOpBuilder;

  /// A scalar function of the operands' elements. In a reduction the last
  /// argument is the accumulator.
  using Body =
      llvm::function_ref<mlir::Value(StructuredBuilder &, mlir::ValueRange)>;

  /// Computes each element of the result from the elements of operands that
  /// broadcast to it.
  mlir::Value map(mlir::RankedTensorType type, mlir::ValueRange operands,
                  Body body);
  /// As above, with an explicit indexing map for each operand.
  mlir::Value map(mlir::RankedTensorType type, mlir::ValueRange operands,
                  llvm::ArrayRef<mlir::AffineMap> maps, Body body);
  /// As above, but overwrites `target`, whose element is the body's last
  /// argument.
  mlir::Value update(mlir::Value target, mlir::ValueRange operands, Body body);

  /// Applies the body to the elements over `domain`, and combines the results
  /// along `axes`. The result has the dimensions of the domain, reduced ones
  /// with size 1; `type` may also be a scalar type.
  mlir::Value reduce(mlir::RankedTensorType type, Combiner combiner,
                     llvm::ArrayRef<int64_t> domain,
                     llvm::ArrayRef<int64_t> axes, mlir::ValueRange operands,
                     Body body);
  /// Reduces the last dimension of the first operand to size 1.
  mlir::Value reduceRows(Combiner combiner, mlir::Type elementType,
                         mlir::ValueRange operands, Body body);

  /// The constant in the type of an element, or of a scalar.
  mlir::Value constant(mlir::Type type, double value);

  /// Converts x to another floating-point type.
  mlir::Value castFloat(mlir::Value x, mlir::Type type);
};

/// The lowering of `OpType`, implemented by a function.
template <typename OpType,
          llvm::SmallVector<mlir::Value> (*lower)(OpType, StructuredBuilder &)>
struct LinalgModel
    : LinalgLoweringInterface::ExternalModel<LinalgModel<OpType, lower>,
                                             OpType> {
  llvm::SmallVector<mlir::Value> lowerToLinalg(mlir::Operation *op,
                                               mlir::OpBuilder &builder) const {
    StructuredBuilder b(op->getLoc(), builder);
    return lower(llvm::cast<OpType>(op), b);
  }
};

template <typename OpType,
          llvm::SmallVector<mlir::Value> (*lower)(OpType, StructuredBuilder &)>
void attachLowering(mlir::MLIRContext *context) {
  OpType::template attachInterface<LinalgModel<OpType, lower>>(*context);
}

// One function for each file of lowerings.
void registerElementwiseLowerings(mlir::MLIRContext *context);
void registerIndexingLowerings(mlir::MLIRContext *context);
void registerLossLowerings(mlir::MLIRContext *context);
void registerNormalizationLowerings(mlir::MLIRContext *context);
void registerPoolingLowerings(mlir::MLIRContext *context);
void registerRandomLowerings(mlir::MLIRContext *context);
void registerReductionLowerings(mlir::MLIRContext *context);
void registerShapeLowerings(mlir::MLIRContext *context);
void registerUpdateLowerings(mlir::MLIRContext *context);

} // namespace dtc

#endif // DTC_LIB_LOWERING_COMMON_STRUCTUREDBUILDER_H
