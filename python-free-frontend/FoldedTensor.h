//===- FoldedTensor.h - parameters inside of computed tensors ----*- C++
//-*-===//
//
// An exporter that computes what does not depend on inputs leaves, of a lookup
// of constant positions, the rows that were looked up, and of an expanded class
// token, its copies:
//
//   embedding_1: [8, 16, 32], eight times the rows 0 to 15 of a table
//   expand:      [8, 1, 64], eight times a parameter of shape [1, 1, 64]
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_FOLDEDTENSOR_H
#define DTC_FRONTEND_FOLDEDTENSOR_H

#include "TensorData.h"

namespace dtc::frontend {

struct FoldedTensor {
  /// The parameter: its rows if it was a lookup.
  Shape shape;
  std::string bytes;
  /// Which row is where, if they are not all in order.
  std::vector<int64_t> indices;
  /// The computed tensor without repetitions.
  Shape unrepeated;
  bool isTransposed = false;
};

/// What a tensor was computed of by the call `op` ("embedding", "expand"), if
/// that only moves elements.
std::optional<FoldedTensor> unfold(const TensorData &data, llvm::StringRef op);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_FOLDEDTENSOR_H
