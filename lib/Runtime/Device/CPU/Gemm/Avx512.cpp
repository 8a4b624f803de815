//===- Avx512.cpp - library calls in vectors of 64 bytes ----------------===//

#include "Depthwise.h"
#include "Kernel.h"
#include "Scores.h"
#include "Winograd.h"

const dtc::rt::GemmKernels dtc::rt::gemmKernelsAvx512 = {
    Gemm<float, 64, 14>::run<false>,
    Gemm<double, 64, 14>::run<false>,
    Gemm<float, 64, 14>::run<true>,
    Gemm<float, 64, 14>::NR,
    Gemm<float, 64, 14>::tileRows,
    {Winograd<64, 14>::image, Winograd<64, 14>::resultGrad,
     Winograd<64, 14>::result, Winograd<64, 14>::weightGrad,
     Winograd<64, 14>::weights},
    {Depthwise<float, 64>::sum, Depthwise<float, 64>::weightGrad},
    {Depthwise<double, 64>::sum, Depthwise<double, 64>::weightGrad},
    {Scores<float, 64>::exponentials, Scores<float, 64>::gradients},
    {Scores<double, 64>::exponentials, Scores<double, 64>::gradients},
    roundToBf16};
