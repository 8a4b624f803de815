//===- ConvolutionTest.cpp ------------------------------------------------===//

#include "Device/CPU/Convolution/Convolution.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <vector>

using namespace dtc::rt;

namespace {

struct Case {
  const char *name;
  Windows windows;
  int64_t filters, groups;
};

/// The output size for padding of `after` pixels at the end.
Windows windowsOf(int64_t n, int64_t h, int64_t w, int64_t c, int64_t kh,
                  int64_t kw, int64_t strideH, int64_t strideW, int64_t top,
                  int64_t left, int64_t bottom, int64_t right,
                  int64_t dilationH = 1, int64_t dilationW = 1) {
  int64_t oh = (h + top + bottom - (kh - 1) * dilationH - 1) / strideH + 1;
  int64_t ow = (w + left + right - (kw - 1) * dilationW - 1) / strideW + 1;
  return {n,  h,       w,       c,   oh,   ow,        kh,
          kw, strideH, strideW, top, left, dilationH, dilationW};
}

const Case cases[] = {
    {"3x3", windowsOf(2, 7, 6, 5, 3, 3, 1, 1, 1, 1, 1, 1), 4, 1},
    {"unpadded", windowsOf(2, 7, 6, 5, 3, 2, 1, 1, 0, 0, 0, 0), 4, 1},
    {"uneven padding", windowsOf(1, 5, 6, 3, 3, 4, 1, 1, 2, 0, 1, 3), 4, 1},
    {"padding beyond the window", windowsOf(1, 3, 2, 3, 2, 2, 1, 1, 4, 3, 5, 3),
     2, 1},
    {"stride 2", windowsOf(2, 9, 8, 4, 3, 3, 2, 2, 1, 1, 1, 1), 6, 1},
    {"strides 3 and 2", windowsOf(2, 10, 9, 4, 4, 3, 3, 2, 2, 1, 0, 0), 6, 1},
    {"stride beyond the window", windowsOf(2, 11, 9, 3, 2, 1, 4, 3, 0, 0, 0, 0),
     5, 1},
    {"dilation", windowsOf(2, 9, 10, 3, 3, 2, 1, 1, 2, 1, 2, 1, 2, 3), 4, 1},
    {"dilation and stride",
     windowsOf(2, 13, 12, 3, 3, 3, 2, 3, 2, 3, 1, 0, 3, 2), 4, 1},
    {"dilation a multiple of the stride",
     windowsOf(1, 11, 12, 3, 3, 3, 2, 2, 2, 3, 2, 3, 2, 4), 4, 1},
    {"groups", windowsOf(2, 6, 5, 6, 3, 3, 1, 1, 1, 1, 1, 1), 9, 3},
    {"groups and stride", windowsOf(2, 6, 5, 6, 3, 3, 2, 2, 1, 1, 1, 1), 4, 2},
    {"depthwise", windowsOf(2, 6, 5, 37, 3, 3, 1, 1, 1, 1, 1, 1), 37, 37},
    {"depthwise, stride and dilation",
     windowsOf(2, 9, 8, 70, 3, 2, 2, 1, 2, 1, 1, 0, 2, 3), 70, 70},
    {"depthwise, many rows", windowsOf(3, 30, 31, 40, 3, 3, 1, 1, 1, 1, 1, 1),
     40, 40},
    {"depthwise, one long row",
     windowsOf(1, 1, 900, 17, 1, 3, 1, 1, 0, 0, 1, 1), 17, 17},
    {"depthwise, a window of more than scratch has for all channels",
     windowsOf(1, 6, 5, 100, 42, 40, 1, 1, 20, 20, 20, 20), 100, 100},
    {"several filters for each channel",
     windowsOf(2, 6, 5, 3, 3, 3, 1, 1, 1, 1, 1, 1), 6, 3},
    {"1x1", windowsOf(3, 5, 4, 7, 1, 1, 1, 1, 0, 0, 0, 0), 6, 1},
    {"1x1, stride 2", windowsOf(3, 5, 4, 7, 1, 1, 2, 2, 0, 0, 0, 0), 6, 1},
    {"1x1, padding", windowsOf(1, 5, 4, 7, 1, 1, 1, 1, 1, 0, 0, 2), 6, 1},
    {"1x1, groups", windowsOf(1, 5, 4, 6, 1, 1, 1, 1, 0, 0, 0, 0), 4, 2},
    {"first layer", windowsOf(2, 20, 21, 3, 7, 7, 2, 2, 3, 3, 3, 3), 8, 1},
    {"one pixel", windowsOf(1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0), 1, 1},
    {"the whole image", windowsOf(2, 4, 5, 3, 4, 5, 1, 1, 0, 0, 0, 0), 4, 1},
    // Several blocks of rows, of taps, of channels.
    {"many rows", windowsOf(3, 30, 31, 40, 3, 3, 1, 1, 1, 1, 1, 1), 5, 1},
    {"many rows, stride 2", windowsOf(3, 60, 61, 40, 3, 3, 2, 2, 1, 1, 1, 1), 5,
     1},
    // Tiles of 4 x 4, with whole and partial ones; f32 alone.
    {"tiles", windowsOf(3, 12, 11, 16, 3, 3, 1, 1, 1, 1, 1, 1), 32, 1},
    {"partial tiles", windowsOf(4, 7, 9, 19, 3, 3, 1, 1, 1, 1, 1, 1), 21, 1},
    {"unpadded tiles", windowsOf(3, 11, 10, 33, 3, 3, 1, 1, 0, 0, 0, 0), 16, 1},
    {"unevenly padded tiles", windowsOf(1, 9, 10, 17, 3, 3, 1, 1, 3, 0, 1, 2),
     18, 1},
    {"few tiles", windowsOf(1, 4, 4, 16, 3, 3, 1, 1, 1, 1, 1, 1), 16, 1},
    {"no tile", windowsOf(2, 2, 8, 16, 3, 3, 1, 1, 0, 0, 0, 0), 16, 1},
    {"many tiles of many channels",
     windowsOf(5, 16, 15, 150, 3, 3, 1, 1, 1, 1, 1, 1), 140, 1},
    {"many channels", windowsOf(1, 9, 9, 1100, 2, 2, 2, 1, 1, 0, 0, 0), 3, 1},
    {"many filters", windowsOf(1, 9, 9, 3, 2, 2, 1, 2, 1, 0, 0, 0), 1100, 1},
};

template <typename T> constexpr dtc_dtype dtypeOf = DTC_F32;
template <> constexpr dtc_dtype dtypeOf<double> = DTC_F64;

template <typename T> struct Operands {
  std::vector<T> x, weight, y;

  explicit Operands(const Case &c) {
    const Windows &s = c.windows;
    std::mt19937 generator(1);
    std::uniform_real_distribution<T> distribution(-1, 1);
    auto fill = [&](std::vector<T> &values, int64_t size) {
      values.resize(size_t(size));
      for (T &value : values)
        value = distribution(generator);
    };
    fill(x, s.n * s.h * s.w * s.c);
    fill(weight, c.filters * s.kh * s.kw * s.c / c.groups);
    fill(y, s.n * s.oh * s.ow * c.filters);
  }

  std::vector<T> &result(dtc_conv_role role) {
    return role == DTC_CONV_FORWARD      ? y
           : role == DTC_CONV_INPUT_GRAD ? x
                                         : weight;
  }
};

/// Computes dtcrt_conv2d product by product.
void naive(const Case &c, dtc_conv_role role, bool accumulate,
           Operands<double> &operands) {
  const Windows &s = c.windows;
  auto &[x, weight, y] = operands;
  if (!accumulate)
    for (double &value : operands.result(role))
      value = 0;
  int64_t channels = s.c / c.groups, filters = c.filters / c.groups;
  for (int64_t b = 0; b < s.n; ++b)
    for (int64_t oy = 0; oy < s.oh; ++oy)
      for (int64_t ox = 0; ox < s.ow; ++ox)
        for (int64_t i = 0; i < s.kh; ++i)
          for (int64_t j = 0; j < s.kw; ++j) {
            int64_t iy = oy * s.strideH - s.padTop + i * s.dilationH;
            int64_t ix = ox * s.strideW - s.padLeft + j * s.dilationW;
            if (iy < 0 || iy >= s.h || ix < 0 || ix >= s.w)
              continue;
            for (int64_t f = 0; f < c.filters; ++f)
              for (int64_t p = 0; p < channels; ++p) {
                double &inX = x[size_t(((b * s.h + iy) * s.w + ix) * s.c +
                                       f / filters * channels + p)];
                double &inWeight =
                    weight[size_t(((f * s.kh + i) * s.kw + j) * channels + p)];
                double &inY =
                    y[size_t(((b * s.oh + oy) * s.ow + ox) * c.filters + f)];
                if (role == DTC_CONV_FORWARD)
                  inY += inX * inWeight;
                else if (role == DTC_CONV_INPUT_GRAD)
                  inX += inY * inWeight;
                else
                  inWeight += inX * inY;
              }
          }
}

struct Scratch {
  static constexpr int64_t bytes =
      std::max(DTC_CONV_SCRATCH_BYTES, DTC_WINOGRAD_SCRATCH_BYTES);
  Mapping arena{bytes};
  Scratch() { memset(arena.data(), 0xff, bytes); } // NaN
};

template <typename T>
void run(int threads, const Case &c, dtc_conv_role role, bool accumulate,
         Operands<T> &operands) {
  Scratch scratch;
  MatMul matmul(MatMulEngine::builtin, threads);
  convolve(matmul,
           {dtypeOf<T>, role, accumulate, c.windows, c.filters, c.groups},
           operands.x.data(), operands.weight.data(), operands.y.data(),
           scratch.arena.data());
}

class Convolution : public testing::TestWithParam<Case> {};

} // namespace

TEST_P(Convolution, IsTheSumOfProducts) {
  for (dtc_conv_role role :
       {DTC_CONV_FORWARD, DTC_CONV_INPUT_GRAD, DTC_CONV_WEIGHT_GRAD})
    for (bool accumulate : {false, true}) {
      Operands<double> expected(GetParam()), actual(GetParam());
      naive(GetParam(), role, accumulate, expected);
      run(1, GetParam(), role, accumulate, actual);
      double tolerance =
          1e-15 * double(GetParam().windows.c + GetParam().filters) * 49;
      for (size_t i = 0; i < expected.result(role).size(); ++i)
        ASSERT_NEAR(actual.result(role)[i], expected.result(role)[i], tolerance)
            << "role " << role << ", accumulate " << accumulate << ", at " << i;
    }
}

/// Computes in f32 and in f64 with the same numbers.
static void runBoth(const Case &c, dtc_conv_role role, bool accumulate,
                    Operands<float> &actual, Operands<double> &expected) {
  expected.x.assign(actual.x.begin(), actual.x.end());
  expected.weight.assign(actual.weight.begin(), actual.weight.end());
  expected.y.assign(actual.y.begin(), actual.y.end());
  run(1, c, role, accumulate, expected);
  run(1, c, role, accumulate, actual);
}

TEST_P(Convolution, FloatIsCloseToDouble) {
  for (dtc_conv_role role :
       {DTC_CONV_FORWARD, DTC_CONV_INPUT_GRAD, DTC_CONV_WEIGHT_GRAD}) {
    Operands<float> actual(GetParam());
    Operands<double> expected(GetParam());
    runBoth(GetParam(), role, true, actual, expected);
    for (size_t i = 0; i < expected.result(role).size(); ++i)
      ASSERT_NEAR(actual.result(role)[i], expected.result(role)[i], 1e-3)
          << "role " << role << ", at " << i;
  }
}

/// Compares f32 with f64, relative to the result's norm. Each product is
/// rounded to 6e-8; the transforms make that larger, by less than this.
TEST_P(Convolution, TransformsKeepPrecision) {
  for (dtc_conv_role role :
       {DTC_CONV_FORWARD, DTC_CONV_INPUT_GRAD, DTC_CONV_WEIGHT_GRAD}) {
    Operands<float> actual(GetParam());
    Operands<double> expected(GetParam());
    runBoth(GetParam(), role, false, actual, expected);
    double error = 0, norm = 0;
    for (size_t i = 0; i < expected.result(role).size(); ++i) {
      error += std::pow(actual.result(role)[i] - expected.result(role)[i], 2);
      norm += std::pow(expected.result(role)[i], 2);
    }
    EXPECT_LE(std::sqrt(error), 2e-6 * std::sqrt(norm)) << "role " << role;
  }
}

/// A batch of two gives each image the bits that it has alone.
TEST_P(Convolution, BitsDoNotDependOnTheBatch) {
  Case two = GetParam();
  const Windows &w = two.windows;
  if (w.n < 2)
    return;
  two.windows.n = 2;
  Case one = two;
  one.windows.n = 1;
  for (dtc_conv_role role : {DTC_CONV_FORWARD, DTC_CONV_INPUT_GRAD}) {
    Operands<float> both(two), first(one);
    first.weight = both.weight;
    std::copy_n(both.x.begin(), first.x.size(), first.x.begin());
    std::copy_n(both.y.begin(), first.y.size(), first.y.begin());
    run(1, two, role, false, both);
    run(1, one, role, false, first);
    EXPECT_TRUE(std::equal(first.result(role).begin(), first.result(role).end(),
                           both.result(role).begin()))
        << "role " << role;
  }
}

TEST_P(Convolution, BitsDoNotDependOnThreads) {
  for (dtc_conv_role role :
       {DTC_CONV_FORWARD, DTC_CONV_INPUT_GRAD, DTC_CONV_WEIGHT_GRAD}) {
    Operands<float> one(GetParam());
    run(1, GetParam(), role, true, one);
    for (int threads : {2, 3, 5}) {
      Operands<float> other(GetParam());
      run(threads, GetParam(), role, true, other);
      EXPECT_EQ(one.result(role), other.result(role)) << "role " << role;
    }
  }
}

/// Transforms one tile with every instruction set that this host has: a panel
/// of filters and one that is not full, channels that are vectors and single
/// ones.
TEST(Winograd, AllKernels) {
  for (const GemmKernels *kernels : hostGemmKernels()) {
    const WinogradKernels &winograd = kernels->winograd;
    int64_t panel = kernels->panelColumns, c = 19, f = panel + 3;
    std::mt19937 generator(1);
    std::uniform_real_distribution<float> distribution(-1, 1);
    auto draw = [&](int64_t size) {
      std::vector<float> values(static_cast<size_t>(size));
      for (float &value : values)
        value = distribution(generator);
      return values;
    };
    std::vector<float> x = draw(36 * c), w = draw(9 * f * c), dy = draw(16 * f);
    std::vector<float> y(16 * f), dw(9 * f * c);

    int64_t step = 2 * c * panel;
    std::vector<float> room(9 * c * panel), u(36 * step), v(36 * c), m(36 * f),
        d(36 * f), s(36 * f * c);
    for (int64_t first = 0; first < f; first += panel)
      winograd.weights({&w[9 * c * first], c, 9 * c, 1,
                        std::min(panel, f - first), c, false},
                       room.data(), &u[first * c], step);
    winograd.image(c, {x.data(), 6 * c, c}, {v.data(), 6 * c, c});
    std::vector<char> scratch(gemmScratchBytes + 64);
    for (int64_t e = 0; e < 36; ++e)
      kernels->f32Panels({1, f, c, &v[e * c], c, 1, &u[e * step], panel,
                          c * panel, &m[e * f], f, false},
                         scratch.data());
    winograd.result(f, {m.data(), 6 * f, f}, {y.data(), 4 * f, f}, false);
    winograd.resultGrad(f, {dy.data(), 4 * f, f}, {d.data(), 6 * f, f});
    for (int64_t e = 0; e < 36; ++e)
      for (int64_t i = 0; i < f; ++i)
        for (int64_t j = 0; j < c; ++j)
          s[(e * f + i) * c + j] = d[e * f + i] * v[e * c + j];
    for (int64_t i = 0; i < f; ++i)
      winograd.weightGrad(c, {&s[i * c], 6 * f * c, f * c},
                          {&dw[i * 9 * c], 3 * c, c}, false);

    std::vector<double> expectedY(16 * f), expectedDw(9 * f * c);
    for (int64_t p = 0; p < 16; ++p)
      for (int64_t tap = 0; tap < 9; ++tap)
        for (int64_t i = 0; i < f; ++i)
          for (int64_t j = 0; j < c; ++j) {
            int64_t pixel = (p / 4 + tap / 3) * 6 + p % 4 + tap % 3;
            size_t weight = (i * 9 + tap) * c + j;
            expectedY[p * f + i] += double(x[pixel * c + j]) * w[weight];
            expectedDw[weight] += double(x[pixel * c + j]) * dy[p * f + i];
          }
    for (size_t i = 0; i < y.size(); ++i)
      ASSERT_NEAR(y[i], expectedY[i], 1e-4) << panel << " columns, at " << i;
    for (size_t i = 0; i < dw.size(); ++i)
      ASSERT_NEAR(dw[i], expectedDw[i], 1e-4) << panel << " columns, at " << i;
  }
}

/// Every instruction set that this host has, not only the widest. 93 channels
/// are blocks of four vectors, of one, and single ones, for each of them.
TEST(Depthwise, AllKernels) {
  auto check = [](const DepthwiseKernels &kernels, auto zero,
                  double tolerance) {
    using T = decltype(zero);
    const int64_t pixels = 7, lines = 2, taps = 4, channels = 127;
    // Source pixels and lines overlap; weights run backwards.
    std::vector<T> source(20 * channels), weight(8 * channels),
        target(14 * channels);
    std::mt19937 generator(1);
    std::uniform_real_distribution<T> distribution(-1, 1);
    for (auto *values : {&source, &weight, &target})
      for (T &value : *values)
        value = distribution(generator);
    DepthwiseArguments g{pixels,        lines,         taps,
                         channels,      source.data(), channels,
                         10 * channels, channels,      &weight[7 * channels],
                         -4 * channels, -channels,     target.data(),
                         2 * channels,  true};
    auto forEachProduct = [&](auto body) {
      for (int64_t p = 0; p < pixels; ++p)
        for (int64_t l = 0; l < lines; ++l)
          for (int64_t t = 0; t < taps; ++t)
            for (int64_t c = 0; c < channels; ++c)
              body(size_t((p + 10 * l + t) * channels + c),
                   size_t((7 - 4 * l - t) * channels + c),
                   size_t(2 * p * channels + c));
    };
    auto expectNear = [&](const std::vector<T> &actual,
                          const std::vector<T> &expected) {
      for (size_t i = 0; i < actual.size(); ++i)
        ASSERT_NEAR(actual[i], expected[i], tolerance) << "at " << i;
    };
    std::vector<T> expected = target;
    forEachProduct([&](size_t s, size_t w, size_t y) {
      expected[y] += source[s] * weight[w];
    });
    kernels.sum(g);
    expectNear(target, expected);
    expected = weight;
    forEachProduct([&](size_t s, size_t w, size_t y) {
      expected[w] += source[s] * target[y];
    });
    kernels.weightGrad(g);
    expectNear(weight, expected);
  };
  for (const GemmKernels *kernels : hostGemmKernels()) {
    check(kernels->depthwiseF32, 0.0f, 1e-5);
    check(kernels->depthwiseF64, 0.0, 1e-13);
  }
}

INSTANTIATE_TEST_SUITE_P(, Convolution, testing::ValuesIn(cases),
                         [](const testing::TestParamInfo<Case> &info) {
                           std::string name = info.param.name;
                           for (char &letter : name)
                             if (!isalnum(letter))
                               letter = '_';
                           return name;
                         });
