//===- TopK.h - elements of largest magnitude -------------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_DEVICE_CPU_COMPRESSION_TOPK_H
#define DTC_LIB_RUNTIME_DEVICE_CPU_COMPRESSION_TOPK_H

#include "System/Threads.h"
#include "dtc/Runtime/ABI.h"

namespace dtc::rt {

/// Computes dtcrt_top_k; dtype is f32 or f64.
void selectLargest(const Threads &threads, dtc_dtype dtype, int64_t rows,
                   int64_t columns, int64_t k, const void *x, int32_t *indices);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_DEVICE_CPU_COMPRESSION_TOPK_H
