//===- ConvolutionShape.h - the arguments of a convolution ------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_DEVICE_CPU_CONVOLUTION_CONVOLUTIONSHAPE_H
#define DTC_LIB_RUNTIME_DEVICE_CPU_CONVOLUTION_CONVOLUTIONSHAPE_H

#include "Windows.h"
#include "dtc/Runtime/ABI.h"

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

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_DEVICE_CPU_CONVOLUTION_CONVOLUTIONSHAPE_H
