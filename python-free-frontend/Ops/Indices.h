//===- Indices.h - checks the indices of lookups ----------------*- C++ -*-===//
//
// Kernels do not check indices. The importer checks indices that are known.
// Indices that are data of the model are checked when the program reads them
// (dtc.bound). Indices that the model computes are clamped, unless their range
// is known to be inside. The lookup of a clamped index gives NaN in a float
// table, so that the step fails.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_OPS_INDICES_H
#define DTC_FRONTEND_OPS_INDICES_H

#include "Ops/NodeBuilder.h"

namespace dtc::frontend {

/// Maps negative indices to those from 0 to size - 1. Errors if one is outside.
llvm::Expected<HostTensor> wrapIndices(const HostTensor &indices, int64_t size);

/// Indices that a kernel may use.
struct Indices {
  mlir::Value values;    ///< from 0 to size - 1
  mlir::Value areInside; ///< whether each index was inside; null if all are
};

/// Makes indices of a dimension of `size` safe. Negative ones count from the
/// end. `isPart`: the model computes an index from this one, so the program
/// that reads the data does not check it.
llvm::Expected<Indices> checkIndices(NodeBuilder &node, mlir::Value indices,
                                     int64_t size, bool isPart = false);

/// Replaces the rows that were looked up at outside indices by NaN, the lowest
/// integer or false. `rows` has a row of `rank` dimensions for each index.
mlir::Value dropOutside(NodeBuilder &node, mlir::Value rows,
                        mlir::Value areInside, int64_t rank);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_OPS_INDICES_H
