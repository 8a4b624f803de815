//===- MatMul.cpp - batched matrix products of a rank ---------------------===//

#include "MatMul.h"

#include "Context.h"
#include "Elements.h"

#include <algorithm>
#include <cstring>
#include <dnnl.h>

using namespace dtc::rt;

// GNU's OpenMP is the one thread pool of the process; clang's -fopenmp would
// bring in another.
extern "C" {
void GOMP_parallel(void (*body)(void *), void *data, unsigned threads,
                   unsigned flags);
int omp_get_thread_num();
void omp_set_num_threads(int);
void omp_set_dynamic(int);
}

/// Tiles have 6 or 14 rows and 4 to 32 columns; parts of a matrix that are
/// multiples of these leave no ragged edges between threads.
static constexpr int64_t rowGrain = 42, columnGrain = 32;

/// Below this many multiplications a second thread costs more than it gives.
static constexpr int64_t workPerThread = 1 << 18;

MatMul::MatMul(MatMulEngine engine, int threads)
    : engine(engine), threads(threads), kernels(hostGemmKernels()),
      scratch(gemmScratchBytes * threads) {
  omp_set_dynamic(0);
  omp_set_num_threads(threads);
}

namespace {

/// A product cut into `batch * parts` pieces that no two threads share.
struct Job {
  const MatMulShape &shape;
  void (*kernel)(const GemmArguments &, char *);
  const char *a, *b;
  char *c;
  char *scratch;
  int threads;
  int64_t parts;
  bool splitRows;
  int64_t partSize;

  void piece(int64_t index, char *buffer) const {
    auto &[dtype, transposeA, transposeB, accumulate, batch, m, n, k] = shape;
    int64_t bytes = sizeOf(dtype), matrix = index / parts;
    GemmArguments g;
    g.m = m, g.n = n, g.k = k;
    g.aRow = transposeA ? 1 : k, g.aCol = transposeA ? m : 1;
    g.bRow = transposeB ? 1 : n, g.bCol = transposeB ? k : 1;
    g.ldc = n;
    g.accumulate = accumulate;
    int64_t first = index % parts * partSize;
    int64_t firstRow = splitRows ? first : 0;
    int64_t firstColumn = splitRows ? 0 : first;
    (splitRows ? g.m : g.n) = std::min(partSize, (splitRows ? m : n) - first);
    g.a = a + (matrix * m * k + firstRow * g.aRow) * bytes;
    g.b = b + (matrix * k * n + firstColumn * g.bCol) * bytes;
    g.c = c + (matrix * m * n + firstRow * n + firstColumn) * bytes;
    kernel(g, buffer);
  }

  void share(int thread) const {
    int64_t pieces = shape.batch * parts;
    for (int64_t i = pieces * thread / threads;
         i < pieces * (thread + 1) / threads; ++i)
      piece(i, scratch + thread * gemmScratchBytes);
  }
};

} // namespace

void MatMul::run(const MatMulShape &shape, const void *a, const void *b,
                 void *c) {
  auto &[dtype, transposeA, transposeB, accumulate, batch, m, n, k] = shape;
  if (dtype != DTC_F32 && dtype != DTC_F64)
    fatal("matmul of %s, expected f32 or f64", nameOf(dtype));
  if (k == 0) {
    if (!accumulate)
      memset(c, 0, batch * m * n * sizeOf(dtype));
    return;
  }
  if (batch * m * n == 0)
    return;
  if (engine == MatMulEngine::oneDnn && dtype == DTC_F32)
    return runOneDnn(shape, static_cast<const float *>(a),
                     static_cast<const float *>(b), static_cast<float *>(c));
  Job job{shape,
          dtype == DTC_F32 ? kernels.f32 : kernels.f64,
          static_cast<const char *>(a),
          static_cast<const char *>(b),
          static_cast<char *>(c),
          scratch.data(),
          1,
          1,
          m >= n,
          std::max(m, n)};
  int64_t useful = batch * m * n * k / workPerThread;
  job.threads = int(std::clamp<int64_t>(useful, 1, threads));
  if (batch < job.threads) { // too few matrices: cut each
    int64_t size = std::max(m, n), grain = m >= n ? rowGrain : columnGrain;
    int64_t wanted = (job.threads + batch - 1) / batch;
    job.partSize = (size + wanted * grain - 1) / (wanted * grain) * grain;
    job.parts = (size + job.partSize - 1) / job.partSize;
  }
  if (job.threads == 1)
    return job.share(0);
  GOMP_parallel(
      [](void *data) {
        static_cast<const Job *>(data)->share(omp_get_thread_num());
      },
      &job, job.threads, 0);
}

void MatMul::runOneDnn(const MatMulShape &shape, const float *a, const float *b,
                       float *c) {
  auto &[dtype, transposeA, transposeB, accumulate, batch, m, n, k] = shape;
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
