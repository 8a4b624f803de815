//===- Slots.h - rows in slots of experts -----------------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_DEVICE_CPU_GROUPED_SLOTS_H
#define DTC_LIB_RUNTIME_DEVICE_CPU_GROUPED_SLOTS_H

#include "System/Threads.h"
#include "dtc/Runtime/ABI.h"

namespace dtc::rt {

/// The arguments of dtcrt_dispatch and dtcrt_combine that are no buffers.
struct SlotShape {
  dtc_dtype dtype, indexType;
  int64_t groups, rows; ///< rows of a group
  int64_t experts, capacity, width;
};

/// Computes dtcrt_dispatch.
void dispatchRows(const Threads &threads, const SlotShape &shape,
                  const void *rows, const void *indices, void *slots);
/// Computes dtcrt_combine.
void combineRows(const Threads &threads, const SlotShape &shape,
                 const void *slots, const void *indices, void *rows);
/// Computes dtcrt_count_rows.
void countRows(const SlotShape &shape, const void *indices, int32_t *counts);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_DEVICE_CPU_GROUPED_SLOTS_H
