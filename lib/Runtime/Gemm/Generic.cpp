//===- Generic.cpp - matrix products in vectors of 16 bytes ---------------===//

#include "Kernel.h"

const dtc::rt::GemmKernels dtc::rt::gemmKernelsGeneric = {
    Gemm<float, 16, 6>::run, Gemm<double, 16, 6>::run};
