//===- Elements.h - element types of files and buffers ----------*- C++ -*-===//
//
// Files have more element types than programs compute in. This file has all
// conversions between them, which lose nothing but floating-point rounding.
// dtc/Support/ElementType.h has the types.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_CORE_ELEMENTS_H
#define DTC_LIB_RUNTIME_CORE_ELEMENTS_H

#include "Fatal.h"
#include "Float16.h"
#include "dtc/Support/ElementType.h"

#include <span>
#include <string>
#include <vector>

namespace dtc::rt {

using dtc::isFloat;
using dtc::sizeOf;

/// "f32", as in the manifest.
inline const char *nameOf(dtc_dtype dtype) {
  return getElementType(dtype).name;
}
/// Throws an Error unless `name` is an element type.
dtc_dtype parseDType(const std::string &name);
/// Checks the floating-point type of a call; any other type is fatal.
dtc_dtype expectFloat(const char *call, int32_t dtype);

/// Calls `body` with a value of the C++ type of an element.
template <typename Body> auto visitElement(dtc_dtype dtype, Body body) {
  switch (dtype) {
  case DTC_F32:
    return body(float());
  case DTC_F64:
    return body(double());
  case DTC_I32:
    return body(int32_t());
  case DTC_I64:
    return body(int64_t());
  case DTC_BOOL:
    return body(bool());
  case DTC_BF16:
    return body(BFloat16());
  case DTC_F16:
    return body(Float16());
  case DTC_I8:
    return body(int8_t());
  case DTC_I16:
    return body(int16_t());
  case DTC_U8:
    return body(uint8_t());
  case DTC_U16:
    return body(uint16_t());
  case DTC_U32:
    return body(uint32_t());
  case DTC_U64:
    return body(uint64_t());
  }
  fatal("found element type number %d, which the runtime does not have",
        int(dtype));
}

/// The product of two sizes; throws an Error if it does not fit into 64 bits.
int64_t multiplySizes(int64_t a, int64_t b);
/// The quotient, rounded up. Both numbers are at least 0, the second not 0.
inline int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// The number of elements of a shape. Throws an Error if it does not fit.
int64_t elementCount(const std::vector<int64_t> &shape);

/// Whether values of type `from` convert to `to`: any number converts to a
/// float, whole numbers convert to whole numbers (`findOutside` checks their
/// range).
bool isConvertible(dtc_dtype from, dtc_dtype to);

/// Converts `count` elements; the types are convertible.
void convert(dtc_dtype from, const void *source, dtc_dtype to, void *target,
             int64_t count);

/// The whole numbers that an input accepts. `except` is accepted too.
struct IntegerRange {
  int64_t low, high;
  int64_t except;
  /// If not empty, element i must be below ends[i % ends.size()] instead,
  /// unless that is 0.
  std::span<const int64_t> ends = {};

  /// The range of an element.
  IntegerRange at(int64_t element) const {
    int64_t end = ends.empty() ? 0 : ends[size_t(element) % ends.size()];
    return end ? IntegerRange{0, end - 1, except}
               : IntegerRange{low, high, except};
  }
};

/// The whole numbers that fit `dtype`.
IntegerRange rangeOf(dtc_dtype dtype);

/// Finds the first of `count` whole numbers outside the range, or -1; `value`
/// gets that number. The first number is element 0 of a sample.
int64_t findOutside(dtc_dtype dtype, const void *source, int64_t count,
                    const IntegerRange &range, std::string &value);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_CORE_ELEMENTS_H
