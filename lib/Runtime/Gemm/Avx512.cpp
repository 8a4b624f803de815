//===- Avx512.cpp - matrix products in vectors of 64 bytes ----------------===//

#include "Kernel.h"

const dtc::rt::GemmKernels dtc::rt::gemmKernelsAvx512 = {
    Gemm<float, 64, 14>::run, Gemm<double, 64, 14>::run};
