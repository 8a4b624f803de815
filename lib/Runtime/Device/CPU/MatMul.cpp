//===- MatMul.cpp - batched matrix products of a rank ---------------------===//

#include "MatMul.h"

#include "Core/Context.h"
#include "Core/Elements.h"

#include <algorithm>
#include <cstring>
#include <dnnl.h>
#include <numeric>

using namespace dtc::rt;

MatMul::MatMul(MatMulEngine engine, int threads)
    : engine(engine), pool(threads), kernels(hostGemmKernels()),
      scratch(threadBytes * threads) {}

namespace {

/// How a matrix is cut: the rows and columns of a part.
struct Cut {
  int64_t rows, columns;
};

/// An element of A or B that is packed, in each part that needs it, takes about
/// as long as so many multiplications.
constexpr int64_t packWork = 16;

/// Cuts `product` into at most `parts` parts of whole tiles of the kernel, such
/// that the largest is as fast as it can be.
Cut chooseCut(const GemmArguments &product, int64_t parts, int64_t tileRows,
              int64_t tileColumns) {
  auto partOf = [](int64_t size, int64_t count, int64_t tile) {
    return ceilDiv(ceilDiv(size, count), tile) * tile;
  };
  Cut best = {};
  int64_t least = INT64_MAX;
  for (int64_t rowParts = 1; rowParts <= parts; ++rowParts) {
    Cut cut = {partOf(product.m, rowParts, tileRows),
               partOf(product.n, parts / rowParts, tileColumns)};
    int64_t work = cut.rows * cut.columns + packWork * (cut.rows + cut.columns);
    if (work < least) {
      least = work;
      best = cut;
    }
  }
  return best;
}

/// Products cut into pieces that no two threads share.
struct Job {
  const GemmArguments &product;
  void (*kernel)(const GemmArguments &, char *);
  int64_t elementBytes;
  int threads;
  Cut cut;
  int64_t columnParts, parts, pieces; ///< of a matrix; of all

  /// Where an element is, so many after the first.
  template <typename Void> Void *advance(Void *first, int64_t elements) const {
    return (char *)first + elements * elementBytes;
  }

  void piece(int64_t index, char *buffer) const {
    GemmArguments g = product;
    int64_t matrix = index / parts, part = index % parts;
    int64_t firstRow = part / columnParts * cut.rows;
    int64_t firstColumn = part % columnParts * cut.columns;
    g.m = std::min(cut.rows, g.m - firstRow);
    g.n = std::min(cut.columns, g.n - firstColumn);
    auto &[m, n, k, a, aRow, aCol, b, bRow, bCol, c, ldc, accumulate] = product;
    g.a = advance(a, matrix * m * k + firstRow * aRow);
    g.b = advance(b, matrix * k * n + firstColumn * bCol);
    g.c = advance(c, matrix * m * n + firstRow * ldc + firstColumn);
    kernel(g, buffer);
  }

  void share(int thread, char *buffer) const {
    for (int64_t i = pieces * thread / threads;
         i < pieces * (thread + 1) / threads; ++i)
      piece(i, buffer);
  }
};

} // namespace

void MatMul::multiply(dtc_dtype dtype, const GemmArguments &product,
                      int64_t batch) {
  int64_t m = product.m, n = product.n;
  int threads = pool.worthwhile(batch * m * n * product.k);
  // Cut matrices if they are too few to be shared evenly.
  Cut cut = {m, n};
  if (batch % threads != 0 && batch < 8 * threads)
    cut = chooseCut(product, threads / std::gcd(batch, threads),
                    kernels.tileRows, kernels.tileColumns(dtype == DTC_F64));
  int64_t columnParts = ceilDiv(n, cut.columns);
  int64_t parts = ceilDiv(m, cut.rows) * columnParts;
  Job job{product,       dtype == DTC_F32 ? kernels.f32 : kernels.f64,
          sizeOf(dtype), threads,
          cut,           columnParts,
          parts,         batch * parts};
  Threads::run(job.threads,
               [&](int thread) { job.share(thread, scratchOf(thread)); });
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
