//===- Reduce.cpp - sums and maxima of two buffers ------------------------===//

#include "Reduce.h"

#include "Core/Elements.h"

#include <type_traits>

using namespace dtc::rt;

/// Sums of whole numbers wrap around.
template <typename T> struct SumType {
  using Type = T;
};
template <typename T>
  requires std::is_integral_v<T>
struct SumType<T> {
  using Type = std::make_unsigned_t<T>;
};

template <typename T>
static void sum(T *__restrict target, const T *__restrict x, int64_t count) {
  using Sum = typename SumType<T>::Type;
  for (int64_t i = 0; i < count; ++i)
    target[i] = T(Sum(target[i]) + Sum(x[i]));
}

template <typename T>
static void maximum(T *__restrict target, const T *__restrict x,
                    int64_t count) {
  // A NaN differs from itself, and wins.
  for (int64_t i = 0; i < count; ++i)
    // NOLINTNEXTLINE(misc-redundant-expression)
    target[i] = target[i] < x[i] || x[i] != x[i] ? x[i] : target[i];
}

template <typename T>
static void reduceAs(dtc_reduction reduction, void *target, const void *x,
                     int64_t count) {
  auto *function = reduction == DTC_SUM ? sum<T> : maximum<T>;
  function(static_cast<T *>(target), static_cast<const T *>(x), count);
}

void dtc::rt::reduceInto(dtc_dtype dtype, dtc_reduction reduction, void *target,
                         const void *x, int64_t count) {
  if (dtype == DTC_BOOL)
    return maximum(static_cast<uint8_t *>(target),
                   static_cast<const uint8_t *>(x), count);
  visitElement(dtype, [&](auto element) {
    if constexpr (!std::is_same_v<decltype(element), bool>)
      reduceAs<decltype(element)>(reduction, target, x, count);
  });
}
