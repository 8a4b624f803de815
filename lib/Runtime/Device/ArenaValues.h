//===- ArenaValues.h - numbers of an arena ----------------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_DEVICE_ARENAVALUES_H
#define DTC_LIB_RUNTIME_DEVICE_ARENAVALUES_H

#include "Arena.h"
#include "Core/Elements.h"

#include <algorithm>
#include <array>
#include <span>

namespace dtc::rt {

/// Calls `use` with `count` elements from an offset on as f64, in order, a part
/// at a time, until it returns false. Does not allocate.
template <typename Use>
void forEachPart(const Arena &arena, int64_t offset, dtc_dtype dtype,
                 int64_t count, Use use) {
  std::array<double, 4096> values;
  for (int64_t done = 0; done < count;) {
    int64_t part = std::min(count - done, int64_t(values.size()));
    arena.read(offset + done * sizeOf(dtype), part * sizeOf(dtype),
               [&](const char *data) {
                 convert(dtype, data, DTC_F64, values.data(), part);
               });
    if (!use(std::span<const double>(values.data(), size_t(part))))
      return;
    done += part;
  }
}

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_DEVICE_ARENAVALUES_H
