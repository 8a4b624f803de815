//===- Orthonormalize.h - orthonormal columns -------------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_DEVICE_CPU_COMPRESSION_ORTHONORMALIZE_H
#define DTC_LIB_RUNTIME_DEVICE_CPU_COMPRESSION_ORTHONORMALIZE_H

#include "dtc/Runtime/ABI.h"

namespace dtc::rt {

/// Computes dtcrt_orthonormalize; dtype is f32 or f64.
void orthonormalize(dtc_dtype dtype, int64_t batch, int64_t rows,
                    int64_t columns, const void *x, void *y);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_DEVICE_CPU_COMPRESSION_ORTHONORMALIZE_H
