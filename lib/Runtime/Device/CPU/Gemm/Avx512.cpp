//===- Avx512.cpp - library calls in vectors of 64 bytes ----------------===//

#include "Depthwise.h"
#include "Kernel.h"
#include "Scores.h"

const dtc::rt::GemmKernels dtc::rt::gemmKernelsAvx512 = {
    Gemm<float, 64, 14>::run,
    Gemm<double, 64, 14>::run,
    {Depthwise<float, 64>::sum, Depthwise<float, 64>::weightGrad},
    {Depthwise<double, 64>::sum, Depthwise<double, 64>::weightGrad},
    {Scores<float, 64>::exponentials, Scores<float, 64>::gradients},
    {Scores<double, 64>::exponentials, Scores<double, 64>::gradients},
    roundToBf16};
