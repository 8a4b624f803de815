//===- Dispatch.cpp - matrix products that this host can compute ----------===//

#include "Gemm.h"

#include <algorithm>
#include <vector>

using namespace dtc::rt;

std::span<const GemmKernels *const> dtc::rt::hostGemmKernels() {
  static const std::vector<const GemmKernels *> kernels = [] {
    std::vector<const GemmKernels *> able;
#ifdef __x86_64__
    bool hasAvx2 =
        __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (__builtin_cpu_supports("avx512f"))
      able.push_back(&gemmKernelsAvx512);
    if (hasAvx2)
      able.push_back(&gemmKernelsAvx2);
#endif
    able.push_back(&gemmKernelsGeneric);
    return able;
  }();
  return kernels;
}

std::span<const GemmKernels *const> dtc::rt::equalGemmKernels() {
  std::span<const GemmKernels *const> all = hostGemmKernels();
  return all.first(std::max<size_t>(1, all.size() - 1)); // generic is last
}
