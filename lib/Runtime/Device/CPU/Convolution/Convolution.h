//===- Convolution.h - 2-D convolutions of a rank ---------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_DEVICE_CPU_CONVOLUTION_CONVOLUTION_H
#define DTC_LIB_RUNTIME_DEVICE_CPU_CONVOLUTION_CONVOLUTION_H

#include "ConvolutionShape.h"
#include "Device/CPU/MatMul/MatMul.h"

namespace dtc::rt {

/// Computes a convolution on the threads of the rank; bits do not depend on
/// their number. The built-in engine computes its products.
void convolve(MatMul &matmul, const ConvolutionShape &shape, void *x,
              void *weight, void *y, void *scratch);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_DEVICE_CPU_CONVOLUTION_CONVOLUTION_H
