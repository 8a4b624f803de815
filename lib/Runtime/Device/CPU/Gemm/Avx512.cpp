//===- Avx512.cpp - library calls in vectors of 64 bytes ----------------===//

#include "Depthwise.h"
#include "Kernel.h"
#include "Scores.h"
#include "Winograd.h"

const dtc::rt::GemmKernels dtc::rt::gemmKernelsAvx512 = {
    "avx512",
    Gemm<float, 64, 12>::run,
    Gemm<double, 64, 12>::run,
    Gemm<float, 64, 12>::runPanels,
    Gemm<float, 64, 12>::NR,
    Gemm<float, 64, 12>::tileRows,
    {Winograd<64, 12>::image, Winograd<64, 12>::resultGrad,
     Winograd<64, 12>::result, Winograd<64, 12>::weightGrad,
     Winograd<64, 12>::weights},
    {Depthwise<float, 64>::sum, Depthwise<float, 64>::weightGrad},
    {Depthwise<double, 64>::sum, Depthwise<double, 64>::weightGrad},
    {Scores<float, 64>::exponentials, Scores<float, 64>::gradients},
    {Scores<double, 64>::exponentials, Scores<double, 64>::gradients},
    roundToBf16};
