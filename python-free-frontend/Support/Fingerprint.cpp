//===- Fingerprint.cpp - summary of a weight's elements -------------------===//
//
// Finds candidates for tied weights, and compares them.
//
//===----------------------------------------------------------------------===//

#include "Support/Fingerprint.h"

#include <cmath>
#include <cstring>

using namespace llvm;

namespace dtc::frontend {

namespace {
template <typename T> T load(const TensorData &data, int64_t i) {
  T value;
  std::memcpy(&value, data.bytes.data() + i * sizeof(T), sizeof(T));
  return value;
}

/// Finalizer of SplitMix64. It spreads the bits of one element.
uint64_t mix(uint64_t bits) {
  bits += 0x9e3779b97f4a7c15;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
  return bits ^ (bits >> 31);
}

template <typename Float, typename Bits>
Fingerprint scan(const TensorData &data) {
  Fingerprint result;
  int64_t count = numElements(data.shape);
  for (int64_t i = 0; i < count; ++i) {
    Bits bits = load<Bits>(data, i);
    result.hash += mix(bits);
    result.uniform &= bits == load<Bits>(data, 0);
    Float element = load<Float>(data, i);
    result.huge |= std::fabs(element) >= Float(1e9);
    result.hasNan |= std::isnan(element);
  }
  return result;
}

/// Whether two stored matrices are transposes of each other.
template <typename Bits>
bool isTranspose(const TensorData &a, const TensorData &b) {
  int64_t rows = a.shape[a.transposed], columns = a.shape[!a.transposed];
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      if (load<Bits>(a, i * columns + j) != load<Bits>(b, j * rows + i))
        return false;
  return true;
}

bool isStoredTransposed(const TensorData &a, const TensorData &b) {
  return a.dtype == DType::F64 ? isTranspose<uint64_t>(a, b)
                               : isTranspose<uint32_t>(a, b);
}
} // namespace

Fingerprint fingerprint(const TensorData &data) {
  return data.dtype == DType::F64 ? scan<double, uint64_t>(data)
                                  : scan<float, uint32_t>(data);
}

Match compareElements(const TensorData &a, const TensorData &b) {
  if (a.dtype != b.dtype)
    return Match::None;
  if (a.shape == b.shape &&
      (a.transposed == b.transposed ? a.bytes == b.bytes
                                    : isStoredTransposed(a, b)))
    return Match::Equal;
  if (a.shape.size() != 2 || b.shape.size() != 2 || a.shape[0] != b.shape[1] ||
      a.shape[1] != b.shape[0])
    return Match::None;
  bool isTransposed = a.transposed == b.transposed ? isStoredTransposed(a, b)
                                                   : a.bytes == b.bytes;
  return isTransposed ? Match::Transposed : Match::None;
}

} // namespace dtc::frontend
