//===- Avx2.cpp - library calls in vectors of 32 bytes ------------------===//

#include "Depthwise.h"
#include "Kernel.h"
#include "Scores.h"
#include "Winograd.h"

const dtc::rt::GemmKernels dtc::rt::gemmKernelsAvx2 = {
    "avx2",
    Gemm<float, 32, 6>::run,
    Gemm<double, 32, 6>::run,
    Gemm<float, 32, 6>::runPanels,
    Gemm<float, 32, 6>::NR,
    Gemm<float, 32, 6>::tileRows,
    {Winograd<32, 6>::image, Winograd<32, 6>::resultGrad,
     Winograd<32, 6>::result, Winograd<32, 6>::weightGrad,
     Winograd<32, 6>::weights},
    {Depthwise<float, 32>::sum, Depthwise<float, 32>::weightGrad},
    {Depthwise<double, 32>::sum, Depthwise<double, 32>::weightGrad},
    {Scores<float, 32>::exponentials, Scores<float, 32>::gradients},
    {Scores<double, 32>::exponentials, Scores<double, 32>::gradients},
    roundToBf16};
