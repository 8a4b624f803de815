//===- Indices.h - indices that lookups may take ----------------*- C++ -*-===//
//
// Kernels do not check indices. Those that are known are checked here, those
// that are data of the model when they are read (dtc.bound); what the model
// computes, unless it is known to be inside, becomes an index that is, and what
// is looked up there no number, if it is a float, so that a training ends with
// the step.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_OPS_INDICES_H
#define DTC_FRONTEND_OPS_INDICES_H

#include "Ops/NodeBuilder.h"

namespace dtc::frontend {

/// Non-negative indices, or an error for one outside a dimension of `size`.
llvm::Expected<HostTensor> wrapIndices(const HostTensor &indices, int64_t size);

struct Indices {
  mlir::Value values;    ///< from 0 to size - 1
  mlir::Value areInside; ///< null if all are
};

/// Indices of a dimension of `size`, negative ones from its end. Data that
/// `isPart` of an index is computed with: its reader does not check it.
llvm::Expected<Indices> checkIndices(NodeBuilder &node, mlir::Value indices,
                                     int64_t size, bool isPart = false);

/// `rows`, an element's row of `rank` dimensions for each index, without those
/// at indices that were outside: NaN, the lowest number or false.
mlir::Value dropOutside(NodeBuilder &node, mlir::Value rows,
                        mlir::Value areInside, int64_t rank);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_OPS_INDICES_H
