//===- Elements.cpp - element types of files and buffers ------------------===//

#include "Elements.h"

#include "Error.h"
#include "dtc/Support/MaxElements.h"

#include <cstring>
#include <limits>
#include <type_traits>

using namespace dtc::rt;

namespace {

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
    To result = static_cast<To>(loadAt<From>(source, i));
    memcpy(static_cast<char *>(target) + i * sizeof(To), &result, sizeof(To));
  }
}

} // namespace

int64_t dtc::rt::multiplySizes(int64_t a, int64_t b) {
  int64_t product;
  if (__builtin_mul_overflow(a, b, &product))
    fail("%lld x %lld does not fit into 64 bits", (long long)a, (long long)b);
  return product;
}

dtc_dtype dtc::rt::expectFloat(const char *call, int32_t dtype) {
  if (!dtc::isElementType(dtype) || !isFloat(dtc_dtype(dtype)))
    fatal("%s of element type %d, expected floating point", call, dtype);
  return dtc_dtype(dtype);
}

dtc_dtype dtc::rt::parseDType(const std::string &name) {
  if (const ElementType *type = findElementType(&ElementType::name, name))
    return type->code;
  std::string known;
  for (const ElementType &type : elementTypes)
    known += (known.empty() ? "" : ", ") + std::string(type.name);
  fail("found element type '%s', expected one of %s", name.c_str(),
       known.c_str());
}

int64_t dtc::rt::elementCount(const std::vector<int64_t> &shape) {
  int64_t count = 1;
  for (int64_t size : shape) {
    if (size < 0 || __builtin_mul_overflow(count, size, &count) ||
        count > maxElements)
      fail("shape %s is impossible, expected at most 2^48 elements",
           dtc::formatShape(shape).c_str());
  }
  return count;
}

bool dtc::rt::isConvertible(dtc_dtype from, dtc_dtype to) {
  return isFloat(to) || !isFloat(from);
}

#ifdef __x86_64__
/// The same loops, compiled for processors since 2013. For older ones the
/// compiler calls a function for each element.
[[gnu::target("avx2,f16c")]] static void
widenHalves(const void *source, void *target, int64_t count) {
  auto *from = static_cast<const _Float16 *>(source);
  auto *to = static_cast<float *>(target);
  for (int64_t i = 0; i < count; ++i)
    to[i] = from[i];
}

[[gnu::target("avx2,f16c")]] static void
narrowToHalves(const void *source, void *target, int64_t count) {
  auto *from = static_cast<const float *>(source);
  auto *to = static_cast<_Float16 *>(target);
  for (int64_t i = 0; i < count; ++i)
    to[i] = static_cast<_Float16>(from[i]);
}

static bool convertHalves(dtc_dtype from, const void *source, dtc_dtype to,
                          void *target, int64_t count) {
  bool isAligned = (uintptr_t(source) | uintptr_t(target)) % 4 == 0;
  if (!isAligned || !__builtin_cpu_supports("avx2") ||
      !__builtin_cpu_supports("f16c"))
    return false;
  if (from == DTC_F16 && to == DTC_F32)
    return widenHalves(source, target, count), true;
  if (from == DTC_F32 && to == DTC_F16)
    return narrowToHalves(source, target, count), true;
  return false;
}
#else
static bool convertHalves(dtc_dtype, const void *, dtc_dtype, void *, int64_t) {
  return false;
}
#endif

void dtc::rt::convert(dtc_dtype from, const void *source, dtc_dtype to,
                      void *target, int64_t count) {
  if (from == to) {
    memcpy(target, source, count * sizeOf(to));
    return;
  }
  if (convertHalves(from, source, to, target, count))
    return;
  visitElement(from, [&](auto value) {
    using From = decltype(value);
    visitElement(to, [&](auto result) {
      convertLoop<From, decltype(result)>(source, target, count);
    });
  });
}

IntegerRange dtc::rt::rangeOf(dtc_dtype dtype) {
  // A u64 value must fit into the program's widest integer.
  if (sizeOf(dtype) == 8)
    return {dtype == DTC_U64 ? 0 : std::numeric_limits<int64_t>::min(),
            std::numeric_limits<int64_t>::max(), 0};
  return visitElement(dtype, [](auto value) -> IntegerRange {
    using T = decltype(value);
    if constexpr (std::is_integral_v<T>)
      return {int64_t(std::numeric_limits<T>::min()),
              int64_t(std::numeric_limits<T>::max()), 0};
    fatal("range of whole numbers of a floating-point type");
  });
}

int64_t dtc::rt::findOutside(dtc_dtype dtype, const void *source, int64_t count,
                             const IntegerRange &range, std::string &value) {
  return visitElement(dtype, [&](auto example) -> int64_t {
    using T = decltype(example);
    if constexpr (std::is_integral_v<T>) {
      IntegerRange accepted = range.at(0);
      for (int64_t i = 0; i < count; ++i) {
        if (range.ends.size() > 1)
          accepted = range.at(i);
        T element = loadAt<T>(source, i);
        __int128 wide = element;
        if ((wide < accepted.low || wide > accepted.high) &&
            wide != accepted.except) {
          value = std::to_string(element);
          return i;
        }
      }
    }
    return -1;
  });
}
