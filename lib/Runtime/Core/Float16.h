//===- Float16.h - 16-bit floats as C++ types -------------------*- C++ -*-===//
//
// Storage types: they convert to float and back, rounding to nearest even. All
// arithmetic is in float.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_CORE_FLOAT16_H
#define DTC_LIB_RUNTIME_CORE_FLOAT16_H

#include <cstdint>

namespace dtc::rt {

/// The upper half of a float. Bit operations, which every processor vectorizes.
struct BFloat16 {
  uint16_t bits = 0;

  BFloat16() = default;
  BFloat16(float x) {
    auto wide = __builtin_bit_cast(uint32_t, x);
    uint32_t rounded = wide + 0x7fff + (wide >> 16 & 1);
    bits = x != x ? wide >> 16 | 0x40 : rounded >> 16; // a NaN stays one
  }
  operator float() const {
    return __builtin_bit_cast(float, uint32_t(bits) << 16);
  }
};

/// IEEE 754 binary16.
struct Float16 {
  _Float16 value = 0;

  Float16() = default;
  Float16(float x) : value(static_cast<_Float16>(x)) {}
  operator float() const { return value; }
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_CORE_FLOAT16_H
