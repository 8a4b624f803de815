//===- Fingerprint.cpp - three numbers that tell tensors apart ------------===//

#include "Fingerprint.h"

using namespace dtc::compare;

/// The output of splitmix64 with seed 0 at `index`: 53 bits, in [-1, 1).
static double pseudoRandom(uint64_t index) {
  uint64_t z = (index + 1) * 0x9E3779B97F4A7C15;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  z ^= z >> 31;
  return static_cast<double>(z >> 11) * 0x1p-52 - 1.0;
}

Fingerprint dtc::compare::fingerprint(const Tensor &tensor) {
  Fingerprint result{0, norm(tensor), 0};
  for (size_t i = 0; i < tensor.values.size(); ++i) {
    result.sum += tensor.values[i];
    result.dot += tensor.values[i] * pseudoRandom(i);
  }
  return result;
}
