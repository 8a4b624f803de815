//===- SampleRows.h - lookups in each sample's rows -------------*- C++ -*-===//
//
// PyTorch's TorchScript exporter writes x[arange(B), i] as a lookup in x with
// its first two dimensions joined, at arange(B) * C + i. It writes x[i,
// arange(B)] as a lookup at i * B + arange(B). This file turns the dimension
// that counts samples into a batch dimension again, so that samples stay
// separate. An index beyond the rows of a sample would read another sample, so
// the rewrite needs indices that are data, which the program checks, or that
// have a known range.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_OPS_SAMPLEROWS_H
#define DTC_FRONTEND_OPS_SAMPLEROWS_H

#include "Ops/NodeBuilder.h"

#include <optional>

namespace dtc::frontend {

/// A lookup whose first dimension is the batch.
struct SampleRows {
  mlir::Value table;   ///< [B, C, row...]
  mlir::Value indices; ///< [B, ...], indices of dimension 1
};

/// Recognizes a lookup in dimension 0 of a table that has the same number of
/// rows for each sample. Nothing for other lookups.
std::optional<SampleRows> findSampleRows(NodeBuilder &node, mlir::Value table,
                                         mlir::Value indices);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_OPS_SAMPLEROWS_H
