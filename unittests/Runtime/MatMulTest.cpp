//===- MatMulTest.cpp -----------------------------------------------------===//

#include "Device/CPU/MatMul/MatMul.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>
#include <vector>

using namespace dtc::rt;

namespace {

template <typename T> constexpr dtc_dtype dtypeOf = DTC_F32;
template <> constexpr dtc_dtype dtypeOf<double> = DTC_F64;

template <typename T> std::vector<T> randomVector(int64_t count, int index) {
  std::vector<T> values(static_cast<size_t>(count));
  std::mt19937 generator(static_cast<unsigned>(index));
  std::uniform_real_distribution<T> distribution(-1, 1);
  for (T &value : values)
    value = distribution(generator);
  return values;
}

/// Computes dtcrt_matmul as a loop.
template <typename T>
std::vector<T> naive(const MatMulShape &s, const std::vector<T> &a,
                     const std::vector<T> &b, std::vector<T> c) {
  for (int64_t i = 0; i < s.batch; ++i)
    for (int64_t row = 0; row < s.m; ++row)
      for (int64_t column = 0; column < s.n; ++column) {
        double sum = 0;
        for (int64_t p = 0; p < s.k; ++p)
          sum +=
              double(
                  a[size_t(i * s.m * s.k +
                           (s.transposeA ? p * s.m + row : row * s.k + p))]) *
              double(
                  b[size_t(i * s.k * s.n + (s.transposeB ? column * s.k + p
                                                         : p * s.n + column))]);
        T &target = c[size_t((i * s.m + row) * s.n + column)];
        target = T(s.accumulate ? double(target) + sum : sum);
      }
  return c;
}

template <typename T>
void checkAgainstNaive(MatMul &matmul, const MatMulShape &s) {
  auto a = randomVector<T>(s.batch * s.m * s.k, 0);
  auto b = randomVector<T>(s.batch * s.k * s.n, 1);
  auto c = randomVector<T>(s.batch * s.m * s.n, 2);
  auto expected = naive(s, a, b, c);
  matmul.run(s, a.data(), b.data(), c.data());
  double tolerance = (s.k + 1) * (sizeof(T) == 4 ? 1e-7 : 3e-16);
  for (size_t i = 0; i < c.size(); ++i)
    ASSERT_NEAR(c[i], expected[i], tolerance)
        << s.batch << " x " << s.m << " x " << s.n << " x " << s.k << " at "
        << i;
}

template <typename T>
void checkKernel(void (*kernel)(const GemmArguments &, char *), bool transposeA,
                 bool transposeB, bool accumulate, int64_t m, int64_t n,
                 int64_t k) {
  Mapping scratch(gemmScratchBytes);
  auto a = randomVector<T>(m * k, 0), b = randomVector<T>(k * n, 1);
  std::vector<T> c(size_t(m * n), T(0.5));
  auto expected = naive(
      {dtypeOf<T>, transposeA, transposeB, accumulate, 1, m, n, k}, a, b, c);
  kernel({m, n, k, a.data(), transposeA ? 1 : k, transposeA ? m : 1, b.data(),
          transposeB ? 1 : n, transposeB ? k : 1, c.data(), n, accumulate},
         scratch.data());
  for (size_t i = 0; i < c.size(); ++i)
    ASSERT_NEAR(c[i], expected[i],
                double(k + 1) * (sizeof(T) == 4 ? 1e-7 : 3e-16))
        << m << " x " << n << ", transposed: " << transposeA << ", at " << i;
}

/// Tiles and edges, one and several blocks of each dimension.
const int64_t sizes[][4] = {
    {1, 1, 1, 1},      {1, 10, 5, 10},      {3, 7, 17, 3},
    {2, 64, 64, 64},   {1, 197, 33, 259},   {1, 85, 1030, 70},
    {5, 128, 32, 128}, {1, 300, 150, 1018}, {1, 265, 150, 512},
    {1, 3, 2, 600},    {1, 6, 300, 0},      {3, 16, 100, 600},
    {1, 45, 77, 1100}, {1, 128, 200, 300}};

template <typename T> void checkAll(MatMulEngine engine, int threads) {
  MatMul matmul(engine, threads);
  for (auto [batch, m, n, k] : sizes)
    for (int flags = 0; flags < 8; ++flags)
      checkAgainstNaive<T>(matmul,
                           {dtypeOf<T>, bool(flags & 1), bool(flags & 2),
                            bool(flags & 4), batch, m, n, k});
}

} // namespace

TEST(MatMul, Float) { checkAll<float>(MatMulEngine::builtin, 1); }
TEST(MatMul, Double) { checkAll<double>(MatMulEngine::builtin, 1); }
TEST(MatMul, FloatThreads) { checkAll<float>(MatMulEngine::builtin, 3); }
TEST(MatMul, DoubleThreads) { checkAll<double>(MatMulEngine::builtin, 3); }
TEST(MatMul, OneDnn) { checkAll<float>(MatMulEngine::oneDnn, 1); }

TEST(MatMul, BitsDoNotDependOnThreads) {
  for (auto [batch, m, n, k] : {std::array<int64_t, 4>{1, 300, 200, 700},
                                std::array<int64_t, 4>{1, 40, 500, 300},
                                std::array<int64_t, 4>{7, 64, 48, 96}}) {
    auto a = randomVector<float>(batch * m * k, 0);
    auto b = randomVector<float>(batch * k * n, 1);
    std::vector<float> one(size_t(batch * m * n)), other(one.size());
    MatMulShape shape{DTC_F32, false, true, false, batch, m, n, k};
    MatMul(MatMulEngine::builtin, 1).run(shape, a.data(), b.data(), one.data());
    for (int threads : {2, 3, 5}) {
      MatMul(MatMulEngine::builtin, threads)
          .run(shape, a.data(), b.data(), other.data());
      EXPECT_EQ(one, other);
    }
  }
}

/// Tests every instruction set that this host has, not only the widest. Numbers
/// of rows are above and below that of a tile, and have every remainder.
/// Numbers of columns are above and below the limits at which A is packed, and
/// at which B is not packed at once.
TEST(MatMul, AllKernels) {
  for (const GemmKernels *kernel : hostGemmKernels())
    for (int64_t m = 1; m < 31; ++m)
      for (int64_t n : {40, 77, 80, 84, 88, 150, 230, 256})
        for (bool transposeA : {false, true})
          for (bool transposeB : {false, true}) {
            checkKernel<float>(kernel->f32, transposeA, transposeB, false, m, n,
                               301);
            checkKernel<double>(kernel->f64, transposeA, transposeB, false, m,
                                n, 301);
          }
}

/// Several blocks along the contraction, added to existing values.
TEST(MatMul, AllKernelsAccumulate) {
  for (const GemmKernels *kernel : hostGemmKernels())
    for (int64_t m : {5, 8, 16, 28, 45, 128})
      for (int64_t n : {150, 256, 300})
        for (bool transposeB : {false, true}) {
          checkKernel<float>(kernel->f32, false, transposeB, true, m, n, 1030);
          checkKernel<double>(kernel->f64, false, transposeB, true, m, n, 600);
        }
}
