//===- MatMul.h - batched matrix products of a rank -------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_DEVICE_CPU_MATMUL_MATMUL_H
#define DTC_LIB_RUNTIME_DEVICE_CPU_MATMUL_MATMUL_H

#include "Device/CPU/Gemm/Gemm.h"
#include "Device/Tuning.h"
#include "Options/Options.h"
#include "System/Mapping.h"
#include "System/Threads.h"
#include "dtc/Runtime/ABI.h"

#include <map>
#include <tuple>

namespace dtc::rt {

/// The arguments of dtcrt_matmul.
struct MatMulShape {
  dtc_dtype dtype;
  bool transposeA, transposeB, accumulate;
  int64_t batch, m, n, k;
  bool keepsSums = false; ///< DTC_RESULT_SUMS
};

/// Computes products on the threads of the rank. The built-in engine's bits do
/// not depend on their number.
class MatMul {
public:
  MatMul(MatMulEngine engine, int threads);

  /// Multiplies f32 or f64.
  void run(const MatMulShape &shape, const void *a, const void *b, void *c);

  /// By the built-in engine, unless measurements chose another, `batch` times:
  /// operands of the next product are m * k, k * n and m * n elements further
  /// on. dtype is f32 or f64; no size is zero.
  void multiply(dtc_dtype dtype, const GemmArguments &product,
                int64_t batch = 1);

  /// One product on the calling thread, which is number `thread` of those that
  /// run at once.
  void multiplyAlone(int thread, dtc_dtype dtype,
                     const GemmArguments &product) {
    (dtype == DTC_F32 ? kernels.f32 : kernels.f64)(product, scratchOf(thread));
  }

  /// The same of f32 with B in panels.
  void multiplyPanels(int thread, const GemmArguments &product) {
    kernels.f32Panels(product, scratchOf(thread));
  }
  /// The memory of a thread that products of at most narrowColumns columns
  /// leave free: as much as a second-level cache.
  static constexpr int64_t ownFloats =
      (int64_t(5) << 18) / int64_t(sizeof(float));
  float *ownScratch(int thread) {
    return reinterpret_cast<float *>(scratchOf(thread) + narrowScratchBytes);
  }

  const Threads &threads() const { return pool; }

  const GemmKernels &rowKernels() const { return kernels; }

  /// From now on, `other` chooses how products are computed, except for those
  /// of multiplyAlone and multiplyPanels.
  void tuneBy(Tuning &other) {
    tuning = &other;
    ways.clear();
  }

private:
  /// A way to compute a product.
  struct Way {
    const GemmKernels *kernels; ///< null: by oneDNN
    int threads;

    std::string name() const;
  };
  /// The properties that the fastest way depends on: type, sizes, and which
  /// strides are 1.
  using Key =
      std::tuple<dtc_dtype, int64_t, int64_t, int64_t, int64_t, bool, bool>;

  const Way &wayOf(dtc_dtype dtype, const GemmArguments &product,
                   int64_t batch);
  std::vector<Way> listWays(dtc_dtype dtype, int64_t work) const;
  double measure(const Way &way, dtc_dtype dtype, const GemmArguments &product,
                 int64_t batch);
  void compute(const Way &way, dtc_dtype dtype, const GemmArguments &product,
               int64_t batch);

  static constexpr int64_t threadBytes =
      narrowScratchBytes + ownFloats * int64_t(sizeof(float));
  static_assert(gemmScratchBytes <= threadBytes);
  char *scratchOf(int thread) { return scratch.data() + thread * threadBytes; }

  MatMulEngine engine;
  Threads pool;
  const GemmKernels &kernels;
  Mapping scratch; ///< for each thread: to pack in, and its own
  Tuning *tuning = nullptr;
  std::map<Key, Way> ways; ///< that it has chosen
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_DEVICE_CPU_MATMUL_MATMUL_H
