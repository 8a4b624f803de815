//===- Convolution.h - 2-D convolutions of a rank ---------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_DEVICE_CPU_CONVOLUTION_H
#define DTC_LIB_RUNTIME_DEVICE_CPU_CONVOLUTION_H

#include "MatMul.h"
#include "Windows.h"

namespace dtc::rt {

/// The arguments of dtcrt_conv2d.
struct ConvolutionShape {
  dtc_dtype dtype;
  dtc_conv_role role;
  bool accumulate;
  Windows windows;
  int64_t filters, groups;
  bool keepsSums = false; ///< DTC_RESULT_SUMS
  bool winograd = true;   ///< by Winograd's transforms
};

/// Divides a convolution over the threads of the rank; bits do not depend on
/// how many there are. Products are computed by the built-in engine.
void convolve(MatMul &matmul, const ConvolutionShape &shape, void *x,
              void *weight, void *y, void *scratch);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_DEVICE_CPU_CONVOLUTION_H
