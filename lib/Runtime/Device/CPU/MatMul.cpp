//===- MatMul.cpp - batched matrix products of a rank ---------------------===//

#include "MatMul.h"

#include "Core/Context.h"
#include "Core/Elements.h"

#include <algorithm>
#include <cstring>
#include <dnnl.h>

using namespace dtc::rt;

/// Tiles have 6 or 14 rows and 4 to 32 columns; parts of a matrix that are
/// multiples of these leave no ragged edges between threads.
static constexpr int64_t rowGrain = 42, columnGrain = 32;

MatMul::MatMul(MatMulEngine engine, int threads)
    : engine(engine), pool(threads), kernels(hostGemmKernels()),
      scratch(gemmScratchBytes * threads) {}

namespace {

/// Products cut into `batch * parts` pieces that no two threads share.
struct Job {
  const GemmArguments &product;
  int64_t batch;
  void (*kernel)(const GemmArguments &, char *);
  int64_t elementBytes;
  char *scratch;
  int threads;
  int64_t parts;
  bool splitRows;
  int64_t partSize;

  /// Where an element is, so many after the first.
  template <typename Void> Void *advance(Void *first, int64_t elements) const {
    return (char *)first + elements * elementBytes;
  }

  void piece(int64_t index, char *buffer) const {
    GemmArguments g = product;
    int64_t matrix = index / parts, first = index % parts * partSize;
    int64_t firstRow = splitRows ? first : 0;
    int64_t firstColumn = splitRows ? 0 : first;
    int64_t &size = splitRows ? g.m : g.n;
    size = std::min(partSize, size - first);
    auto &[m, n, k, a, aRow, aCol, b, bRow, bCol, c, ldc, accumulate] = product;
    g.a = advance(a, matrix * m * k + firstRow * aRow);
    g.b = advance(b, matrix * k * n + firstColumn * bCol);
    g.c = advance(c, matrix * m * n + firstRow * ldc + firstColumn);
    kernel(g, buffer);
  }

  void share(int thread) const {
    int64_t pieces = batch * parts;
    for (int64_t i = pieces * thread / threads;
         i < pieces * (thread + 1) / threads; ++i)
      piece(i, scratch + thread * gemmScratchBytes);
  }
};

} // namespace

void MatMul::multiply(dtc_dtype dtype, const GemmArguments &product,
                      int64_t batch) {
  int64_t m = product.m, n = product.n, k = product.k;
  Job job{product,
          batch,
          dtype == DTC_F32 ? kernels.f32 : kernels.f64,
          sizeOf(dtype),
          scratch.data(),
          pool.worthwhile(batch * m * n * k),
          1,
          m >= n,
          std::max(m, n)};
  if (batch < job.threads) { // too few matrices: cut each
    int64_t size = std::max(m, n), grain = m >= n ? rowGrain : columnGrain;
    int64_t wanted = (job.threads + batch - 1) / batch;
    job.partSize = (size + wanted * grain - 1) / (wanted * grain) * grain;
    job.parts = (size + job.partSize - 1) / job.partSize;
  }
  Threads::run(job.threads, [&](int thread) { job.share(thread); });
}

void MatMul::run(const MatMulShape &shape, const void *a, const void *b,
                 void *c) {
  auto &[dtype, transposeA, transposeB, accumulate, batch, m, n, k, keepsSums] =
      shape;
  if (batch * m * n == 0)
    return;
  if (k == 0) {
    if (!accumulate)
      memset(c, 0, batch * m * n * sizeOf(dtype));
    return;
  }
  if (engine == MatMulEngine::oneDnn && dtype == DTC_F32)
    return runOneDnn(shape, static_cast<const float *>(a),
                     static_cast<const float *>(b), static_cast<float *>(c));
  multiply(dtype,
           {m, n, k, a, transposeA ? 1 : k, transposeA ? m : 1, b,
            transposeB ? 1 : n, transposeB ? k : 1, c, n, accumulate},
           batch);
}

void MatMul::runOneDnn(const MatMulShape &shape, const float *a, const float *b,
                       float *c) {
  auto &[dtype, transposeA, transposeB, accumulate, batch, m, n, k, keepsSums] =
      shape;
  for (int64_t i = 0; i < batch; ++i) {
    dnnl_status_t status = dnnl_sgemm(
        transposeA ? 'T' : 'N', transposeB ? 'T' : 'N', m, n, k, 1.0f,
        a + i * m * k, transposeA ? m : k, b + i * k * n, transposeB ? k : n,
        accumulate ? 1.0f : 0.0f, c + i * m * n, n);
    if (status != dnnl_success)
      fatal("dnnl_sgemm of %lld x %lld x %lld failed with status %d",
            (long long)m, (long long)n, (long long)k, int(status));
  }
}
