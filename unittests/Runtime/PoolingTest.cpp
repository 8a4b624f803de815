//===- PoolingTest.cpp ----------------------------------------------------===//

#include "Device/CPU/Convolution/Pooling.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>
#include <vector>

using namespace dtc::rt;

namespace {

/// n, h, w, c, oh, ow, window, strides, padding, dilation.
const Windows cases[] = {
    {2, 6, 8, 5, 3, 4, 2, 2, 2, 2, 0, 0, 1, 1},     // apart
    {2, 7, 8, 5, 4, 4, 3, 3, 2, 2, 1, 1, 1, 1},     // overlapping, padded
    {2, 5, 6, 130, 5, 6, 3, 3, 1, 1, 1, 1, 1, 1},   // several channel blocks
    {1, 6, 5, 3, 6, 6, 2, 3, 1, 1, 0, 2, 1, 1},     // uneven padding
    {1, 9, 10, 4, 2, 3, 2, 2, 5, 4, 0, 0, 1, 1},    // strides above the window
    {2, 9, 11, 4, 4, 7, 3, 2, 2, 1, 2, 0, 2, 4},    // dilation
    {3, 7, 7, 20, 1, 1, 7, 7, 1, 1, 0, 0, 1, 1},    // the whole image
    {4, 30, 31, 20, 15, 16, 3, 3, 2, 2, 1, 1, 1, 1} // enough for threads
};

template <typename T> constexpr dtc_dtype dtypeOf = DTC_F32;
template <> constexpr dtc_dtype dtypeOf<double> = DTC_F64;

/// Random numbers with few different values, so that windows have ties.
template <typename T> std::vector<T> randomVector(int64_t count, int values) {
  std::vector<T> result(static_cast<size_t>(count));
  std::mt19937 generator(7);
  std::uniform_int_distribution<int> distribution(-values, values);
  for (T &value : result)
    value = T(distribution(generator)) / T(8);
  return result;
}

int64_t sizeOfX(const Windows &s) { return s.n * s.h * s.w * s.c; }
int64_t sizeOfY(const Windows &s) { return s.n * s.oh * s.ow * s.c; }

/// Calls body(output, pixels) with the index of each output, and the indices of
/// the pixels inside its window, row by row.
template <typename Body>
void forEachWindow(const Windows &s, const Body &body) {
  for (int64_t b = 0; b < s.n; ++b)
    for (int64_t oy = 0; oy < s.oh; ++oy)
      for (int64_t ox = 0; ox < s.ow; ++ox)
        for (int64_t c = 0; c < s.c; ++c) {
          std::vector<size_t> pixels;
          for (int64_t i = 0; i < s.kh; ++i)
            for (int64_t j = 0; j < s.kw; ++j) {
              int64_t y = oy * s.strideH - s.padTop + i * s.dilationH;
              int64_t x = ox * s.strideW - s.padLeft + j * s.dilationW;
              if (y >= 0 && y < s.h && x >= 0 && x < s.w)
                pixels.push_back(size_t(((b * s.h + y) * s.w + x) * s.c + c));
            }
          ASSERT_FALSE(pixels.empty());
          body(size_t(((b * s.oh + oy) * s.ow + ox) * s.c + c), pixels);
        }
}

template <typename T> struct Results {
  std::vector<T> max, maxGrad, sum, sumGrad;
};

/// Computes dtcrt_pool2d as a loop.
template <typename T>
Results<T> naive(const Windows &s, const std::vector<T> &x,
                 const std::vector<T> &dy) {
  Results<T> r;
  r.max.resize(dy.size());
  r.sum.resize(dy.size());
  r.maxGrad.resize(x.size());
  r.sumGrad.resize(x.size());
  forEachWindow(s, [&](size_t output, const std::vector<size_t> &pixels) {
    size_t best = pixels[0];
    for (size_t pixel : pixels) {
      if (std::isnan(x[pixel]) || x[pixel] > x[best])
        best = pixel;
      r.sum[output] += x[pixel];
      r.sumGrad[pixel] += dy[output];
    }
    r.max[output] = x[best];
    r.maxGrad[best] += dy[output];
  });
  return r;
}

template <typename T>
Results<T> run(int threadCount, const Windows &s, const std::vector<T> &x,
               std::vector<T> dy) {
  Threads threads(threadCount);
  Results<T> r;
  // Results overwrite old contents.
  r.max.assign(dy.size(), T(3));
  r.sum.assign(dy.size(), T(3));
  r.maxGrad.assign(x.size(), T(3));
  r.sumGrad.assign(x.size(), T(3));
  pool(threads, dtypeOf<T>, DTC_POOL_MAX, s, x.data(), r.max.data(), nullptr);
  pool(threads, dtypeOf<T>, DTC_POOL_SUM, s, x.data(), r.sum.data(), nullptr);
  pool(threads, dtypeOf<T>, DTC_POOL_MAX_GRAD, s, x.data(), dy.data(),
       r.maxGrad.data());
  pool(threads, dtypeOf<T>, DTC_POOL_SUM_GRAD, s, nullptr, dy.data(),
       r.sumGrad.data());
  return r;
}

/// All values are small multiples of 1/8, so sums are exact.
template <typename T> void checkAll() {
  for (const Windows &s : cases) {
    auto x = randomVector<T>(sizeOfX(s), 4);
    auto dy = randomVector<T>(sizeOfY(s), 100);
    Results<T> expected = naive(s, x, dy);
    for (int threads : {1, 2, 3}) {
      Results<T> actual = run(threads, s, x, dy);
      EXPECT_EQ(actual.max, expected.max);
      EXPECT_EQ(actual.maxGrad, expected.maxGrad);
      EXPECT_EQ(actual.sum, expected.sum);
      EXPECT_EQ(actual.sumGrad, expected.sumGrad);
    }
  }
}

} // namespace

TEST(Pooling, Float) { checkAll<float>(); }
TEST(Pooling, Double) { checkAll<double>(); }

/// Sums with rounding.
TEST(Pooling, BitsDoNotDependOnThreads) {
  for (const Windows &s : cases) {
    auto x = randomVector<float>(sizeOfX(s), 1 << 28);
    auto dy = randomVector<float>(sizeOfY(s), 1 << 28);
    Results<float> one = run(1, s, x, dy), other = run(3, s, x, dy);
    EXPECT_EQ(one.maxGrad, other.maxGrad);
    EXPECT_EQ(one.sum, other.sum);
    EXPECT_EQ(one.sumGrad, other.sumGrad);
  }
}

/// The results of PyTorch 2's max_pool2d for these windows of nine.
TEST(Pooling, MaximumOfWhatIsNoNumber) {
  const float nan = NAN, inf = INFINITY;
  struct {
    std::vector<float> x;
    size_t index;
  } windows[] = {{{1, nan, 2, nan, 3, 0, 0, 0, 0}, 3},
                 {{nan, 5, 5, 5, 5, 5, 5, 5, 5}, 0},
                 {{-inf, -inf, -inf, -inf, -inf, -inf, -inf, -inf, -inf}, 0},
                 {{-inf, -inf, -inf, -inf, -inf, -inf, -inf, -inf, nan}, 8},
                 {{-0.0f, 0, -1, -1, -1, -1, -1, -1, -1}, 0},
                 {{3, 3, 1, 1, 1, 1, 1, 1, 3}, 0}};
  for (const auto &[x, index] : windows) {
    Results<float> r =
        run<float>(1, {1, 3, 3, 1, 1, 1, 3, 3, 1, 1, 0, 0, 1, 1}, x, {2.0f});
    std::vector<float> gradient(9);
    gradient[index] = 2;
    EXPECT_EQ(r.maxGrad, gradient);
    if (std::isnan(x[index]))
      EXPECT_TRUE(std::isnan(r.max[0]));
    else
      EXPECT_EQ(r.max[0], x[index]);
  }
}
