//===- Reduce.cpp - sums and maxima of two buffers ------------------------===//

#include "Reduce.h"

#include "../Context.h"

using namespace dtc::rt;

template <typename T>
static void sum(T *__restrict target, const T *__restrict x, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    target[i] += x[i];
}

template <typename T>
static void maximum(T *__restrict target, const T *__restrict x,
                    int64_t count) {
  // What differs from itself is NaN, which wins.
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
  switch (dtype) {
  case DTC_F32:
    return reduceAs<float>(reduction, target, x, count);
  case DTC_F64:
    return reduceAs<double>(reduction, target, x, count);
  case DTC_I32:
    // Sums wrap around.
    return reduction == DTC_SUM
               ? reduceAs<uint32_t>(reduction, target, x, count)
               : reduceAs<int32_t>(reduction, target, x, count);
  case DTC_I64:
    return reduction == DTC_SUM
               ? reduceAs<uint64_t>(reduction, target, x, count)
               : reduceAs<int64_t>(reduction, target, x, count);
  case DTC_BOOL:
    return maximum(static_cast<uint8_t *>(target),
                   static_cast<const uint8_t *>(x), count);
  }
  fatal("reduction of unknown element type %d", int(dtype));
}
