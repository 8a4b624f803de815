//===- Narrow.h - library calls on f16 and bf16 -----------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_DEVICE_CPU_NARROW_NARROW_H
#define DTC_LIB_RUNTIME_DEVICE_CPU_NARROW_NARROW_H

#include "OneDnn.h"
#include "System/Mapping.h"

#include <optional>

namespace dtc::rt {

/// oneDNN computes products of bf16 where the processor has instructions for
/// them. All other operations are computed in f32, on widened copies, and
/// rounded once.
class Narrow {
public:
  explicit Narrow(MatMul &matmul);

  void multiply(const MatMulShape &shape, const void *a, const void *b,
                void *c);
  void convolve(const ConvolutionShape &shape, void *x, void *weight, void *y,
                void *scratch);
  void pool(dtc_dtype dtype, dtc_pool_role role, const Windows &windows,
            const void *x, void *y, void *dx);

private:
  /// Memory for `count` floats: one of three.
  float *borrow(int copy, int64_t count);
  float *widen(int copy, dtc_dtype dtype, const void *data, int64_t count);
  void narrow(dtc_dtype dtype, const float *from, void *to, int64_t count);

  MatMul &matmul;
  std::optional<OneDnn> library; ///< of bf16
  std::optional<Mapping> copies[3];
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_DEVICE_CPU_NARROW_NARROW_H
