//===- Fingerprint.h - three numbers that tell tensors apart ----*- C++ -*-===//
//
// References too large to commit are kept as fingerprints; the same numbers as
// test/Inputs/reference.py computes.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_TEST_INTEGRATION_COMPARE_FINGERPRINT_H
#define DTC_TEST_INTEGRATION_COMPARE_FINGERPRINT_H

#include "Tensors.h"

namespace dtc::compare {

struct Fingerprint {
  double sum;  ///< of the elements
  double norm; ///< Euclidean
  double dot;  ///< product with splitmix64's outputs (seed 0) in [-1, 1)

  bool operator!=(const Fingerprint &other) const {
    return sum != other.sum || norm != other.norm || dot != other.dot;
  }
};

Fingerprint fingerprint(const Tensor &tensor);

} // namespace dtc::compare

#endif // DTC_TEST_INTEGRATION_COMPARE_FINGERPRINT_H
