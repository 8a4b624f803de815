//===- Elements.cpp - element types of files and buffers ------------------===//

#include "Elements.h"

#include "Error.h"

#include <cstring>
#include <limits>
#include <type_traits>

using namespace dtc::rt;

namespace {

/// 16-bit floats are only read, so widening is all they need.
struct Half {
  uint16_t bits;
  explicit operator float() const {
    uint32_t sign = uint32_t(bits & 0x8000) << 16;
    uint32_t exponent = (bits >> 10) & 31, fraction = bits & 1023;
    if (exponent == 0) // zero or subnormal: a multiple of 2^-24
      return (sign ? -1.0f : 1.0f) * float(fraction) * 0x1p-24f;
    uint32_t wide = exponent == 31 ? 255 : exponent + 112;
    return __builtin_bit_cast(float, sign | wide << 23 | fraction << 13);
  }
};

struct BFloat {
  uint16_t bits;
  explicit operator float() const {
    return __builtin_bit_cast(float, uint32_t(bits) << 16);
  }
};

/// Calls `body` with a value of the C++ type that `storage` names.
template <typename Body> auto dispatch(Storage storage, Body body) {
  switch (storage) {
  case Storage::F16:
    return body(Half{});
  case Storage::BF16:
    return body(BFloat{});
  case Storage::F32:
    return body(float());
  case Storage::F64:
    return body(double());
  case Storage::I8:
    return body(int8_t());
  case Storage::I16:
    return body(int16_t());
  case Storage::I32:
    return body(int32_t());
  case Storage::I64:
    return body(int64_t());
  case Storage::U8:
    return body(uint8_t());
  case Storage::U16:
    return body(uint16_t());
  case Storage::U32:
    return body(uint32_t());
  case Storage::U64:
    return body(uint64_t());
  case Storage::Bool:
    return body(bool());
  }
  __builtin_unreachable();
}

/// Files do not align their elements.
template <typename T> T loadAt(const void *source, int64_t index) {
  T value;
  memcpy(&value, static_cast<const char *>(source) + index * sizeof(T),
         sizeof(T));
  return value;
}

template <> bool loadAt<bool>(const void *source, int64_t index) {
  return static_cast<const unsigned char *>(source)[index] != 0;
}

template <typename From, typename To>
void convertLoop(const void *source, void *target, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    From value = loadAt<From>(source, i);
    To result;
    if constexpr (std::is_class_v<From>)
      result = static_cast<To>(static_cast<float>(value));
    else
      result = static_cast<To>(value);
    memcpy(static_cast<char *>(target) + i * sizeof(To), &result, sizeof(To));
  }
}

} // namespace

int64_t dtc::rt::sizeOf(Storage storage) {
  return dispatch(storage, [](auto value) { return int64_t(sizeof(value)); });
}

Storage dtc::rt::storageOf(dtc_dtype dtype) {
  switch (dtype) {
  case DTC_F32:
    return Storage::F32;
  case DTC_F64:
    return Storage::F64;
  case DTC_I32:
    return Storage::I32;
  case DTC_I64:
    return Storage::I64;
  case DTC_BOOL:
    return Storage::Bool;
  }
  __builtin_unreachable();
}

int64_t dtc::rt::sizeOf(dtc_dtype dtype) { return sizeOf(storageOf(dtype)); }

static constexpr const char *dtypeNames[] = {"f32", "f64", "i32", "i64",
                                             "bool"};

const char *dtc::rt::nameOf(dtc_dtype dtype) { return dtypeNames[dtype]; }

dtc_dtype dtc::rt::parseDType(const std::string &name) {
  for (int i = 0; i < 5; ++i)
    if (name == dtypeNames[i])
      return dtc_dtype(i);
  fail("found element type '%s', expected f32, f64, i32, i64 or bool",
       name.c_str());
}

int64_t dtc::rt::elementCount(const std::vector<int64_t> &shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

bool dtc::rt::isConvertible(Storage from, dtc_dtype to) {
  return isFloat(to) || !isFloat(from);
}

void dtc::rt::convert(Storage from, const void *source, dtc_dtype to,
                      void *target, int64_t count) {
  if (from == storageOf(to)) {
    memcpy(target, source, count * sizeOf(to));
    return;
  }
  dispatch(from, [&](auto value) {
    using From = decltype(value);
    switch (to) {
    case DTC_F32:
      return convertLoop<From, float>(source, target, count);
    case DTC_F64:
      return convertLoop<From, double>(source, target, count);
    case DTC_I32:
      return convertLoop<From, int32_t>(source, target, count);
    case DTC_I64:
      return convertLoop<From, int64_t>(source, target, count);
    case DTC_BOOL:
      return convertLoop<From, bool>(source, target, count);
    }
  });
}

IntegerRange dtc::rt::rangeOf(dtc_dtype dtype) {
  if (dtype == DTC_BOOL)
    return {0, 1, 0};
  if (dtype == DTC_I32)
    return {std::numeric_limits<int32_t>::min(),
            std::numeric_limits<int32_t>::max(), 0};
  return {std::numeric_limits<int64_t>::min(),
          std::numeric_limits<int64_t>::max(), 0};
}

int64_t dtc::rt::findOutside(Storage storage, const void *source, int64_t count,
                             const IntegerRange &range, std::string &value) {
  return dispatch(storage, [&](auto example) -> int64_t {
    using T = decltype(example);
    if constexpr (std::is_integral_v<T>) {
      for (int64_t i = 0; i < count; ++i) {
        T element = loadAt<T>(source, i);
        __int128 wide = element;
        if ((wide < range.low || wide > range.high) && wide != range.except) {
          value = std::to_string(element);
          return i;
        }
      }
    }
    return -1;
  });
}
