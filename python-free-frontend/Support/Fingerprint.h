//===- Fingerprint.h - what the elements of a weight look like --*- C++ -*-===//
//
// One pass over a tensor: are its elements all equal, is it a mask, and a hash
// that is the same for its transpose.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_SUPPORT_FINGERPRINT_H
#define DTC_FRONTEND_SUPPORT_FINGERPRINT_H

#include "Support/TensorData.h"

namespace dtc::frontend {

struct Fingerprint {
  /// A sum over elements, so the order does not matter.
  uint64_t hash = 0;
  bool uniform = true;
  /// Some element is infinite, or 1e9 and more in magnitude.
  bool huge = false;
  /// Some element is not a number.
  bool hasNan = false;
};

Fingerprint fingerprint(const TensorData &data);

enum class Match { None, Equal, Transposed };

/// Compares two float tensors bit by bit.
Match compareElements(const TensorData &a, const TensorData &b);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_SUPPORT_FINGERPRINT_H
