//===- SampleRows.h - a row of each sample's own ----------------*- C++ -*-===//
//
// PyTorch's TorchScript exporter makes of x[arange(B), i] a lookup in x whose
// first dimensions are one, at arange(B) * C + i, and of x[i, arange(B)] one at
// i * B + arange(B). Of these the dimension that counts samples becomes a batch
// dimension again, so that samples stay apart. An index beyond the sample's
// rows would be a row of another: those that are so taken are data, which are
// checked, or known to be inside.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_OPS_SAMPLEROWS_H
#define DTC_FRONTEND_OPS_SAMPLEROWS_H

#include "Ops/NodeBuilder.h"

#include <optional>

namespace dtc::frontend {

struct SampleRows {
  mlir::Value table;   ///< [B, C, row...]
  mlir::Value indices; ///< [B, ...], of dimension 1
};

/// What a lookup in dimension 0 of a table takes of each sample, if samples
/// have as many rows each and `indices` count them.
std::optional<SampleRows> findSampleRows(NodeBuilder &node, mlir::Value table,
                                         mlir::Value indices);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_OPS_SAMPLEROWS_H
