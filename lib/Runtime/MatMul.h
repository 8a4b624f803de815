//===- MatMul.h - batched matrix products of a rank -------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_MATMUL_H
#define DTC_LIB_RUNTIME_MATMUL_H

#include "Arena.h"
#include "Gemm/Gemm.h"
#include "dtc/Runtime/ABI.h"

namespace dtc::rt {

/// The arguments of dtcrt_matmul.
struct MatMulShape {
  dtc_dtype dtype;
  bool transposeA, transposeB, accumulate;
  int64_t batch, m, n, k;
};

/// Who computes f32 products. oneDNN has no f64, allocates in every call, and
/// may sum in another order when the number of threads changes; it is there to
/// compare with.
enum class MatMulEngine { builtin, oneDnn };

/// Divides a product over the threads of the rank. The built-in engine's bits
/// do not depend on how many there are.
class MatMul {
public:
  MatMul(MatMulEngine engine, int threads);

  void run(const MatMulShape &shape, const void *a, const void *b, void *c);

private:
  void runOneDnn(const MatMulShape &shape, const float *a, const float *b,
                 float *c);

  MatMulEngine engine;
  int threads;
  const GemmKernels &kernels;
  Arena scratch; ///< a packing buffer for each thread
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_MATMUL_H
