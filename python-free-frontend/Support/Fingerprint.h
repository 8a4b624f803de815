//===- Fingerprint.h - summary of a weight's elements -----------*- C++ -*-===//
//
// Reads a tensor once. Tells whether all elements are equal, whether it looks
// like a mask, and gives a hash that does not change if the tensor is
// transposed.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_SUPPORT_FINGERPRINT_H
#define DTC_FRONTEND_SUPPORT_FINGERPRINT_H

#include "Support/TensorData.h"

namespace dtc::frontend {

struct Fingerprint {
  /// A sum over elements, so their order does not matter.
  uint64_t hash = 0;
  /// Whether all elements have the same bits.
  bool uniform = true;
  /// Whether an element is infinite or has a magnitude of 1e9 or more.
  bool huge = false;
  /// Whether an element is NaN.
  bool hasNan = false;
};

/// Summarizes a float tensor.
Fingerprint fingerprint(const TensorData &data);

enum class Match { None, Equal, Transposed };

/// Compares two float tensors bit by bit. `Transposed`: `b` is the transpose of
/// `a`, both matrices.
Match compareElements(const TensorData &a, const TensorData &b);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_SUPPORT_FINGERPRINT_H
