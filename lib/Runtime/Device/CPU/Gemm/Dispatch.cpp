//===- Dispatch.cpp - chooses the matrix product for this host ------------===//

#include "Gemm.h"

const dtc::rt::GemmKernels &dtc::rt::hostGemmKernels() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f"))
    return gemmKernelsAvx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return gemmKernelsAvx2;
#endif
  return gemmKernelsGeneric;
}
