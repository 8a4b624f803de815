//===- Avx2.cpp - matrix products in vectors of 32 bytes ------------------===//

#include "Kernel.h"

const dtc::rt::GemmKernels dtc::rt::gemmKernelsAvx2 = {
    Gemm<float, 32, 6>::run, Gemm<double, 32, 6>::run};
