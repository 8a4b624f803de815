//===- Elements.h - element types of files and buffers ----------*- C++ -*-===//
//
// Files hold more element types than the program computes in. This is the one
// place that knows their sizes, names and the conversions that lose nothing
// but floating-point rounding.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_ELEMENTS_H
#define DTC_LIB_RUNTIME_ELEMENTS_H

#include "dtc/Runtime/ABI.h"

#include <string>
#include <vector>

namespace dtc::rt {

enum class Storage {
  F16,
  BF16,
  F32,
  F64,
  I8,
  I16,
  I32,
  I64,
  U8,
  U16,
  U32,
  U64,
  Bool
};

int64_t sizeOf(Storage storage);
inline bool isFloat(Storage storage) { return storage <= Storage::F64; }

int64_t sizeOf(dtc_dtype dtype);
inline bool isFloat(dtc_dtype dtype) {
  return dtype == DTC_F32 || dtype == DTC_F64;
}
/// "f32", as in the manifest.
const char *nameOf(dtc_dtype dtype);
/// Throws when `name` is no element type.
dtc_dtype parseDType(const std::string &name);
Storage storageOf(dtc_dtype dtype);

int64_t elementCount(const std::vector<int64_t> &shape);

/// Whether values of `from` may be given where `to` is expected: any number as
/// a float, whole numbers as whole numbers (whose range `findOutside` checks).
bool isConvertible(Storage from, dtc_dtype to);

/// Converts `count` elements; the types are convertible.
void convert(Storage from, const void *source, dtc_dtype to, void *target,
             int64_t count);

/// The whole numbers that an input accepts. `except` is accepted too.
struct IntegerRange {
  int64_t low, high;
  int64_t except;
};

/// The whole numbers that fit `dtype`.
IntegerRange rangeOf(dtc_dtype dtype);

/// Position of the first of `count` whole numbers outside the range, or -1;
/// its value goes to `value`.
int64_t findOutside(Storage storage, const void *source, int64_t count,
                    const IntegerRange &range, std::string &value);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_ELEMENTS_H
