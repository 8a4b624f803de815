//===- Winograd.h - convolutions of 3 x 3 by tiles --------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_DEVICE_CPU_CONVOLUTION_WINOGRAD_H
#define DTC_LIB_RUNTIME_DEVICE_CPU_CONVOLUTION_WINOGRAD_H

#include "ConvolutionShape.h"
#include "Device/CPU/MatMul/MatMul.h"

namespace dtc::rt {

/// Whether convolveWinograd supports this shape, and is faster than products of
/// patches.
bool isWinograd(const ConvolutionShape &shape);

/// A convolution of f32 by Winograd's F(4 x 4, 3 x 3), with a quarter of the
/// multiplications. `scratch` is DTC_WINOGRAD_SCRATCH_BYTES. Divided over the
/// threads of the rank; bits do not depend on how many there are.
void convolveWinograd(MatMul &matmul, const ConvolutionShape &shape, float *x,
                      float *weight, float *y, float *scratch);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_DEVICE_CPU_CONVOLUTION_WINOGRAD_H
