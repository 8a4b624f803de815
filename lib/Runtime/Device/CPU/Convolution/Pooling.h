//===- Pooling.h - 2-D poolings of a rank -----------------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_DEVICE_CPU_CONVOLUTION_POOLING_H
#define DTC_LIB_RUNTIME_DEVICE_CPU_CONVOLUTION_POOLING_H

#include "System/Threads.h"
#include "Windows.h"
#include "dtc/Runtime/ABI.h"

namespace dtc::rt {

/// Computes dtcrt_pool2d; dtype is f32 or f64.
void pool(const Threads &threads, dtc_dtype dtype, dtc_pool_role role,
          const Windows &windows, const void *x, void *y, void *dx);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_DEVICE_CPU_CONVOLUTION_POOLING_H
