//===- Expansion.h - helpers of expansions ----------------------*- C++ -*-===//

#ifndef DTC_LIB_PROPAGATION_EXPANSIONS_EXPANSION_H
#define DTC_LIB_PROPAGATION_EXPANSIONS_EXPANSION_H

#include "dtc/Dialect/Dialect.h"
#include "dtc/Propagation/SplitExpansion.h"

namespace dtc {

/// Casts the first indices of parts to the element type of the indices.
inline mlir::Value castStarts(mlir::OpBuilder &builder, mlir::Location loc,
                              mlir::Value starts, mlir::Value indices) {
  auto type = llvm::cast<mlir::RankedTensorType>(starts.getType());
  mlir::Type element = mlir::getElementTypeOrSelf(indices);
  if (type.getElementType() == element)
    return starts;
  return CastOp::create(builder, loc, type.clone(element), starts);
}

// Each file of expansions has one registration function.
void registerAttentionExpansions(mlir::MLIRContext *context);
void registerCrossEntropyExpansions(mlir::MLIRContext *context);
void registerLookupExpansions(mlir::MLIRContext *context);

} // namespace dtc

#endif // DTC_LIB_PROPAGATION_EXPANSIONS_EXPANSION_H
