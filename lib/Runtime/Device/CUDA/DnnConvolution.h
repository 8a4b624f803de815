//===- DnnConvolution.h - convolutions as graphs of cuDNN -------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_DEVICE_CUDA_DNNCONVOLUTION_H
#define DTC_LIB_RUNTIME_DEVICE_CUDA_DNNCONVOLUTION_H

#include "DnnProgram.h"

namespace dtc::rt {

/// A convolution as dtcrt_conv2d has it.
struct DnnConvolution {
  dtc_dtype dtype;
  dtc_conv_role role;
  bool accumulate, keepsSums;
  int64_t n, h, w, c, oh, ow, kh, kw;
  int64_t strideH, strideW, padTop, padLeft, dilationH, dilationW;
  int64_t filters, groups;

  auto operator<=>(const DnnConvolution &) const = default;
};

/// Bytes that engines load at once: they ask for no more alignment.
constexpr int64_t dnnAlignment = 16;
/// Alignments of the addresses of x, weight and y, in bytes.
using DnnAlignments = std::array<int64_t, 3>;

/// The operand that a role writes: 0 for x, 1 for weight, 2 for y.
int resultOf(dtc_conv_role role);
int64_t resultBytesOf(const DnnConvolution &shape);
/// A description for people and for --autotune.
std::string nameOf(const DnnConvolution &shape,
                   const DnnAlignments &alignments);

/// A program on x, weight and y; nothing if the library has no plan within
/// `workspaceBytes`.
std::optional<DnnProgram> findConvolution(const DnnTarget &target,
                                          const DnnConvolution &shape,
                                          const DnnAlignments &alignments,
                                          bool usesTf32,
                                          int64_t workspaceBytes);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_DEVICE_CUDA_DNNCONVOLUTION_H
