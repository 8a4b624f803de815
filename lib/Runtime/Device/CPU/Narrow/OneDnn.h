//===- OneDnn.h - products of bf16 by oneDNN --------------------*- C++ -*-===//
//
// The library's kernels use the processor's instructions for bf16:
// AVX512_BF16's dot products or AMX's tiles. A primitive is created at the
// first use of a shape, and kept.
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_DEVICE_CPU_NARROW_ONEDNN_H
#define DTC_LIB_RUNTIME_DEVICE_CPU_NARROW_ONEDNN_H

#include "Device/CPU/Convolution/ConvolutionShape.h"
#include "Device/CPU/MatMul/MatMul.h"

#include <memory>

namespace dtc::rt {

class OneDnn {
public:
  OneDnn();
  ~OneDnn();

  /// Whether this processor has instructions for bf16.
  static bool hasBf16();

  /// dtcrt_matmul of bf16. No size is zero.
  void multiply(const MatMulShape &shape, const void *a, const void *b,
                void *c);
  /// A product of bf16 whose result is f32. No size is zero.
  void multiply(const GemmArguments &product);
  /// dtcrt_conv2d of bf16. No size is zero.
  void convolve(const ConvolutionShape &shape, void *x, void *weight, void *y);

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_DEVICE_CPU_NARROW_ONEDNN_H
