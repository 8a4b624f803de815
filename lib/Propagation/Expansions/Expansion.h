//===- Expansion.h - what expansions are written with -----------*- C++ -*-===//

#ifndef DTC_LIB_PROPAGATION_EXPANSIONS_EXPANSION_H
#define DTC_LIB_PROPAGATION_EXPANSIONS_EXPANSION_H

#include "dtc/Dialect/Dialect.h"
#include "dtc/Propagation/SplitExpansion.h"

namespace dtc {

/// The first indices of parts, in the element type of the indices.
inline mlir::Value castStarts(mlir::OpBuilder &builder, mlir::Location loc,
                              mlir::Value starts, mlir::Value indices) {
  auto type = llvm::cast<mlir::RankedTensorType>(starts.getType());
  mlir::Type element = mlir::getElementTypeOrSelf(indices);
  if (type.getElementType() == element)
    return starts;
  return CastOp::create(builder, loc, type.clone(element), starts);
}

// One registration for each file of expansions.
void registerAttentionExpansions(mlir::MLIRContext *context);
void registerCrossEntropyExpansions(mlir::MLIRContext *context);
void registerLookupExpansions(mlir::MLIRContext *context);

} // namespace dtc

#endif // DTC_LIB_PROPAGATION_EXPANSIONS_EXPANSION_H
