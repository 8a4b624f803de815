//===- Driver.h - the functions of CUDA's driver ----------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_DEVICE_CUDA_DRIVER_H
#define DTC_LIB_RUNTIME_DEVICE_CUDA_DRIVER_H

#include "Core/Fatal.h"

#include <cuda.h>

// The version of this that drivers before CUDA 12.8 have, too.
#undef cuEventElapsedTime
extern "C" CUresult cuEventElapsedTime(float *milliseconds, CUevent begin,
                                       CUevent end);

namespace dtc::rt {

#define DTC_CUDA_FUNCTIONS(X)                                                  \
  X(cuInit)                                                                    \
  X(cuDriverGetVersion)                                                        \
  X(cuDeviceCanAccessPeer)                                                     \
  X(cuDeviceGet)                                                               \
  X(cuDeviceGetAttribute)                                                      \
  X(cuDeviceGetCount)                                                          \
  X(cuDeviceGetName)                                                           \
  X(cuDeviceGetPCIBusId)                                                       \
  X(cuDeviceGetUuid_v2)                                                        \
  X(cuDeviceTotalMem)                                                          \
  X(cuDevicePrimaryCtxRetain)                                                  \
  X(cuCtxSetCurrent)                                                           \
  X(cuMemGetInfo)                                                              \
  X(cuMemAlloc)                                                                \
  X(cuMemFree)                                                                 \
  X(cuMemHostAlloc)                                                            \
  X(cuMemFreeHost)                                                             \
  X(cuMemcpyHtoDAsync)                                                         \
  X(cuMemcpyDtoHAsync)                                                         \
  X(cuMemcpyAsync)                                                             \
  X(cuMemcpyDtoDAsync)                                                         \
  X(cuMemcpy2DAsync)                                                           \
  X(cuMemsetD8Async)                                                           \
  X(cuMemsetD16Async)                                                          \
  X(cuGraphDestroy)                                                            \
  X(cuGraphExecDestroy)                                                        \
  X(cuGraphInstantiate)                                                        \
  X(cuGraphLaunch)                                                             \
  X(cuStreamBeginCapture)                                                      \
  X(cuStreamCreateWithPriority)                                                \
  X(cuStreamEndCapture)                                                        \
  X(cuStreamSynchronize)                                                       \
  X(cuStreamWaitEvent)                                                         \
  X(cuStreamWriteValue32)                                                      \
  X(cuEventCreate)                                                             \
  X(cuEventDestroy)                                                            \
  X(cuEventElapsedTime)                                                        \
  X(cuEventRecord)                                                             \
  X(cuEventSynchronize)                                                        \
  X(cuModuleLoadDataEx)                                                        \
  X(cuModuleGetFunction)                                                       \
  X(cuLaunchKernel)                                                            \
  X(cuGetErrorName)                                                            \
  X(cuGetErrorString)

/// Pointers to the functions, under their names.
struct CudaDriver {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a member of this name
#define DTC_MEMBER(name) decltype(&::name) name;
  DTC_CUDA_FUNCTIONS(DTC_MEMBER)
#undef DTC_MEMBER
  /// Opens libcuda once; throws an Error if there is none, or no GPU.
  static const CudaDriver &get();

  /// "CUDA_ERROR_OUT_OF_MEMORY (out of memory)".
  const char *describe(CUresult result) const;
};

/// Ends the job unless a call of the driver went well. For calls of a step.
#define DTC_CUDA(call)                                                         \
  do {                                                                         \
    const dtc::rt::CudaDriver &driver = dtc::rt::CudaDriver::get();            \
    if (CUresult result = driver.call; result != CUDA_SUCCESS)                 \
      dtc::rt::fatal("%s failed: %s", #call, driver.describe(result));         \
  } while (false)

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_DEVICE_CUDA_DRIVER_H
