//===- Avx2.cpp - library calls in vectors of 32 bytes ------------------===//

#include "Depthwise.h"
#include "Kernel.h"

const dtc::rt::GemmKernels dtc::rt::gemmKernelsAvx2 = {
    Gemm<float, 32, 6>::run,
    Gemm<double, 32, 6>::run,
    {Depthwise<float, 32>::sum, Depthwise<float, 32>::weightGrad},
    {Depthwise<double, 32>::sum, Depthwise<double, 32>::weightGrad}};
