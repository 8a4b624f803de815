//===- MatMul.cpp - batched matrix products of a rank ---------------------===//

#include "MatMul.h"

#include "Core/Elements.h"
#include "Core/Error.h"
#include "Core/Fatal.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <dnnl.h>
#include <numeric>
#include <optional>

using namespace dtc::rt;

MatMul::MatMul(MatMulEngine engine, int threads)
    : engine(engine), pool(threads), kernels(*hostGemmKernels().front()),
      scratch(threadBytes * threads) {}

//===----------------------------------------------------------------------===//
// Over the threads, by the built-in engine
//===----------------------------------------------------------------------===//

namespace {

/// The rows and columns of a part of a matrix.
struct Cut {
  int64_t rows, columns;
};

/// Packing an element of A or B, in each part that needs it, takes about as
/// long as so many multiplications.
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

  /// The address of an element, so many after the first.
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

static void multiplyBuiltIn(const GemmKernels &kernels, int threads,
                            dtc_dtype dtype, const GemmArguments &product,
                            int64_t batch, char *scratch,
                            int64_t scratchBytes) {
  int64_t m = product.m, n = product.n;
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
  Threads::run(threads, [&](int thread) {
    job.share(thread, scratch + thread * scratchBytes);
  });
}

//===----------------------------------------------------------------------===//
// By oneDNN
//===----------------------------------------------------------------------===//

static void multiplyOneDnn(const GemmArguments &g, int64_t batch) {
  // The distance between rows of a matrix of one row is arbitrary.
  bool turnsA = g.aCol != 1, turnsB = g.bCol != 1;
  int64_t lda = turnsA ? std::max(g.aCol, g.m) : std::max(g.aRow, g.k);
  int64_t ldb = turnsB ? std::max(g.bCol, g.k) : std::max(g.bRow, g.n);
  for (int64_t i = 0; i < batch; ++i) {
    dnnl_status_t status = dnnl_sgemm(
        turnsA ? 'T' : 'N', turnsB ? 'T' : 'N', g.m, g.n, g.k, 1.0f,
        static_cast<const float *>(g.a) + i * g.m * g.k, lda,
        static_cast<const float *>(g.b) + i * g.k * g.n, ldb,
        g.accumulate ? 1.0f : 0.0f, static_cast<float *>(g.c) + i * g.m * g.n,
        std::max(g.ldc, g.n));
    if (status != dnnl_success)
      fatal("dnnl_sgemm of %lld x %lld x %lld failed with status %d",
            (long long)g.m, (long long)g.n, (long long)g.k, int(status));
  }
}

//===----------------------------------------------------------------------===//
// The fastest way
//===----------------------------------------------------------------------===//

std::string MatMul::Way::name() const {
  return kernels ? format("%s x %d", kernels->name, threads) : "onednn";
}

/// The first way is the choice of heuristics. For little work another number of
/// threads may be faster, and for few columns vectors half as wide.
std::vector<MatMul::Way> MatMul::listWays(dtc_dtype dtype, int64_t work) const {
  constexpr int64_t little = 1 << 23;
  std::vector<int> counts = {pool.worthwhile(work)};
  for (int count : {1, pool.most()})
    if (work < little && !std::ranges::count(counts, count))
      counts.push_back(count);
  std::vector<Way> ways;
  for (const GemmKernels *kernels : equalGemmKernels())
    for (int count : counts)
      ways.push_back({kernels, count});
  if (dtype == DTC_F32)
    ways.push_back({nullptr, pool.most()});
  return ways;
}

const MatMul::Way &MatMul::wayOf(dtc_dtype dtype, const GemmArguments &product,
                                 int64_t batch) {
  Key key{dtype,
          batch,
          product.m,
          product.n,
          product.k,
          product.aCol == 1,
          product.bCol == 1};
  if (auto found = ways.find(key); found != ways.end())
    return found->second;
  std::vector<Way> able =
      listWays(dtype, batch * product.m * product.n * product.k);
  std::vector<std::string> names;
  names.reserve(able.size());
  for (const Way &way : able)
    names.push_back(way.name());
  std::string what = format(
      "%s %lld x %lld x %lld x %lld%s%s", dtype == DTC_F64 ? "f64" : "f32",
      (long long)batch, (long long)product.m, (long long)product.n,
      (long long)product.k, product.aCol == 1 ? "" : ", A transposed",
      product.bCol == 1 ? "" : ", B transposed");
  std::optional<Mapping> result; // of measured products
  GemmArguments other = product;
  size_t chosen = tuning->choose(what, names, [&](size_t i) {
    if (!result)
      result.emplace(((batch - 1) * product.m * product.n +
                      (product.m - 1) * product.ldc + product.n) *
                     sizeOf(dtype));
    other.c = result->data();
    return measure(able[i], dtype, other, batch);
  });
  return ways.emplace(key, able[chosen]).first->second;
}

/// Seconds, the least of a millisecond's runs, or of one.
double MatMul::measure(const Way &way, dtc_dtype dtype,
                       const GemmArguments &product, int64_t batch) {
  using Clock = std::chrono::steady_clock;
  std::chrono::duration<double> least(INFINITY);
  auto end = Clock::now() + std::chrono::milliseconds(1);
  for (auto start = Clock::now(); start < end;) {
    compute(way, dtype, product, batch);
    auto now = Clock::now();
    least = std::min<std::chrono::duration<double>>(least, now - start);
    start = now;
  }
  return least.count();
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

void MatMul::compute(const Way &way, dtc_dtype dtype,
                     const GemmArguments &product, int64_t batch) {
  if (way.kernels)
    multiplyBuiltIn(*way.kernels, way.threads, dtype, product, batch,
                    scratch.data(), threadBytes);
  else
    multiplyOneDnn(product, batch);
}

void MatMul::multiply(dtc_dtype dtype, const GemmArguments &product,
                      int64_t batch) {
  if (tuning)
    return compute(wayOf(dtype, product, batch), dtype, product, batch);
  int64_t work = batch * product.m * product.n * product.k;
  compute({&kernels, pool.worthwhile(work)}, dtype, product, batch);
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
  GemmArguments product = {m,
                           n,
                           k,
                           a,
                           transposeA ? 1 : k,
                           transposeA ? m : 1,
                           b,
                           transposeB ? 1 : n,
                           transposeB ? k : 1,
                           c,
                           n,
                           accumulate};
  if (engine == MatMulEngine::oneDnn && dtype == DTC_F32)
    multiplyOneDnn(product, batch);
  else
    multiply(dtype, product, batch);
}
