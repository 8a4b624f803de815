//===- Generic.cpp - library calls in vectors of 16 bytes ---------------===//

#include "Depthwise.h"
#include "Kernel.h"
#include "Scores.h"
#include "Winograd.h"

const dtc::rt::GemmKernels dtc::rt::gemmKernelsGeneric = {
    "generic",
    Gemm<float, 16, 6>::run,
    Gemm<double, 16, 6>::run,
    Gemm<float, 16, 6>::runPanels,
    Gemm<float, 16, 6>::NR,
    Gemm<float, 16, 6>::tileRows,
    {Winograd<16, 6>::image, Winograd<16, 6>::resultGrad,
     Winograd<16, 6>::result, Winograd<16, 6>::weightGrad,
     Winograd<16, 6>::weights},
    {Depthwise<float, 16>::sum, Depthwise<float, 16>::weightGrad},
    {Depthwise<double, 16>::sum, Depthwise<double, 16>::weightGrad},
    {Scores<float, 16>::exponentials, Scores<float, 16>::gradients},
    {Scores<double, 16>::exponentials, Scores<double, 16>::gradients},
    roundToBf16};
