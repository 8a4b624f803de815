//===- Indices.h - indices of rows ------------------------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_DEVICE_CPU_GROUPED_INDICES_H
#define DTC_LIB_RUNTIME_DEVICE_CPU_GROUPED_INDICES_H

#include "dtc/Runtime/ABI.h"

#include <cstdint>

namespace dtc::rt {

/// The index of a row, of type i32 or i64; `end` if it is not from 0 to end
/// - 1.
inline int64_t indexOf(dtc_dtype type, const void *indices, int64_t row,
                       int64_t end) {
  int64_t index = type == DTC_I32 ? static_cast<const int32_t *>(indices)[row]
                                  : static_cast<const int64_t *>(indices)[row];
  return index >= 0 && index < end ? index : end;
}

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_DEVICE_CPU_GROUPED_INDICES_H
