//===- Depthwise.h - convolutions of each channel by itself -----*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_DEVICE_CPU_CONVOLUTION_DEPTHWISE_H
#define DTC_LIB_RUNTIME_DEVICE_CPU_CONVOLUTION_DEPTHWISE_H

#include "ConvolutionShape.h"
#include "System/Threads.h"

namespace dtc::rt {

/// Whether `convolveDepthwise` supports this shape: as many groups as channels
/// and filters, and a window whose weights fit into scratch.
bool isDepthwise(const ConvolutionShape &shape);

/// Like `convolve`, without products of matrices.
void convolveDepthwise(const Threads &threads, const ConvolutionShape &shape,
                       void *x, void *weight, void *y, void *scratch);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_DEVICE_CPU_CONVOLUTION_DEPTHWISE_H
