//===- NarrowTest.cpp - library calls on f16 and bf16 ---------------------===//
//
// Compares with the same call in f32 on the same numbers, rounded once at the
// end.
//
//===----------------------------------------------------------------------===//

#include "Device/CPU/Narrow/Narrow.h"

#include "Core/Elements.h"
#include "Device/CPU/Convolution/Convolution.h"
#include "Device/CPU/Convolution/Pooling.h"

#include <cfloat>
#include <cmath>
#include <gtest/gtest.h>
#include <random>
#include <vector>

using namespace dtc::rt;

namespace {

/// The same numbers in both types.
struct Buffer {
  std::vector<float> wide;
  std::vector<uint16_t> narrow;

  Buffer(dtc_dtype dtype, int64_t count, unsigned seed)
      : wide(size_t(count)), narrow(size_t(count)) {
    std::mt19937 generator(seed);
    std::uniform_real_distribution<float> distribution(-1, 1);
    for (float &value : wide)
      value = distribution(generator);
    convert(DTC_F32, wide.data(), dtype, narrow.data(), count);
    convert(dtype, narrow.data(), DTC_F32, wide.data(), count);
  }
};

/// Half a unit in the last place of the smallest number with the exponent, plus
/// the possible difference of sums of `terms`.
double toleranceOf(dtc_dtype dtype, double value, int64_t terms) {
  double unit = dtype == DTC_BF16 ? 0x1p-8 : 0x1p-11;
  return std::fabs(value) * unit * 1.01 + double(terms + 1) * 3e-7 +
         (dtype == DTC_F16 ? 0x1p-24 : 0);
}

void expectRounded(dtc_dtype dtype, const std::vector<float> &expected,
                   const std::vector<uint16_t> &found, int64_t terms) {
  std::vector<float> values(found.size());
  convert(dtype, found.data(), DTC_F32, values.data(), int64_t(found.size()));
  for (size_t i = 0; i < found.size(); ++i)
    ASSERT_NEAR(values[i], expected[i], toleranceOf(dtype, expected[i], terms))
        << nameOf(dtype) << " at " << i;
}

void expectNear(const std::vector<float> &expected,
                const std::vector<float> &found, int64_t terms) {
  for (size_t i = 0; i < found.size(); ++i)
    ASSERT_NEAR(found[i], expected[i], double(terms + 1) * 3e-7) << "at " << i;
}

constexpr dtc_dtype types[] = {DTC_BF16, DTC_F16};

void checkProduct(Narrow &narrow, MatMul &matmul, MatMulShape shape) {
  int64_t count = shape.batch * shape.m * shape.n;
  Buffer a(shape.dtype, shape.batch * shape.m * shape.k, 1),
      b(shape.dtype, shape.batch * shape.k * shape.n, 2),
      c(shape.dtype, count, 3);
  MatMulShape wide = shape;
  wide.dtype = DTC_F32;
  std::vector<float> expected = c.wide;
  matmul.run(wide, a.wide.data(), b.wide.data(), expected.data());
  if (shape.keepsSums) {
    narrow.multiply(shape, a.narrow.data(), b.narrow.data(), c.wide.data());
    return expectNear(expected, c.wide, shape.k);
  }
  narrow.multiply(shape, a.narrow.data(), b.narrow.data(), c.narrow.data());
  expectRounded(shape.dtype, expected, c.narrow, shape.k);
}

struct Case {
  Windows windows;
  int64_t filters, groups;
};

/// Strides, dilations, padding on one side, pixels outside all windows, groups,
/// and a single channel.
const Case cases[] = {{{2, 9, 8, 6, 7, 6, 3, 3, 1, 1, 0, 0, 1, 1}, 5, 1},
                      {{2, 9, 8, 6, 5, 4, 3, 3, 2, 2, 1, 1, 1, 1}, 4, 2},
                      {{1, 8, 9, 3, 3, 4, 3, 2, 2, 2, 0, 0, 1, 1}, 7, 1},
                      {{2, 11, 11, 4, 9, 9, 3, 3, 1, 1, 1, 1, 2, 2}, 4, 4},
                      {{1, 1, 1, 16, 1, 1, 1, 1, 1, 1, 0, 0, 1, 1}, 32, 1}};

void checkConvolution(Narrow &narrow, MatMul &matmul, const Case &c,
                      dtc_dtype dtype, dtc_conv_role role, bool accumulate,
                      bool keepsSums) {
  const Windows &w = c.windows;
  Buffer operands[] = {{dtype, w.n * w.h * w.w * w.c, 1},
                       {dtype, c.filters * w.kh * w.kw * w.c / c.groups, 2},
                       {dtype, w.n * w.oh * w.ow * c.filters, 3}};
  int result = role == DTC_CONV_FORWARD      ? 2
               : role == DTC_CONV_INPUT_GRAD ? 0
                                             : 1;
  ConvolutionShape shape{dtype,     role,     accumulate, w,
                         c.filters, c.groups, keepsSums};
  ConvolutionShape wideShape = shape;
  wideShape.dtype = DTC_F32;
  Mapping scratch(DTC_WINOGRAD_SCRATCH_BYTES);
  std::vector<float> expected = operands[result].wide;
  float *wide[3];
  void *given[3];
  for (int i = 0; i < 3; ++i) {
    wide[i] = i == result ? expected.data() : operands[i].wide.data();
    given[i] = operands[i].narrow.data();
  }
  convolve(matmul, wideShape, wide[0], wide[1], wide[2], scratch.data());
  if (keepsSums)
    given[result] = operands[result].wide.data();
  narrow.convolve(shape, given[0], given[1], given[2], scratch.data());
  int64_t terms = std::max(w.n * w.oh * w.ow, w.kh * w.kw * w.c);
  if (keepsSums)
    expectNear(expected, operands[result].wide, terms);
  else
    expectRounded(dtype, expected, operands[result].narrow, terms);
}

} // namespace

TEST(Narrow, Products) {
  for (int threads : {1, 3}) {
    MatMul matmul(MatMulEngine::builtin, threads);
    Narrow narrow(matmul);
    for (dtc_dtype dtype : types)
      for (auto [batch, m, n, k] : {std::array<int64_t, 4>{1, 1, 1, 1},
                                    std::array<int64_t, 4>{1, 7, 17, 3},
                                    std::array<int64_t, 4>{1, 65, 33, 259},
                                    std::array<int64_t, 4>{3, 32, 48, 16}})
        for (int flags = 0; flags < 16; ++flags)
          checkProduct(narrow, matmul,
                       {dtype, bool(flags & 1), bool(flags & 2),
                        bool(flags & 4), batch, m, n, k, bool(flags & 8)});
  }
}

TEST(Narrow, Convolutions) {
  MatMul matmul(MatMulEngine::builtin, 2);
  Narrow narrow(matmul);
  for (dtc_dtype dtype : types)
    for (const Case &c : cases) {
      checkConvolution(narrow, matmul, c, dtype, DTC_CONV_FORWARD, false,
                       false);
      checkConvolution(narrow, matmul, c, dtype, DTC_CONV_INPUT_GRAD, false,
                       false);
      for (bool accumulate : {false, true})
        checkConvolution(narrow, matmul, c, dtype, DTC_CONV_WEIGHT_GRAD,
                         accumulate, true);
    }
}

TEST(Narrow, Poolings) {
  MatMul matmul(MatMulEngine::builtin, 1);
  Narrow narrow(matmul);
  Windows w = {2, 6, 6, 3, 3, 3, 2, 2, 2, 2, 0, 0, 1, 1};
  for (dtc_dtype dtype : types)
    for (int role = DTC_POOL_MAX; role <= DTC_POOL_SUM_GRAD; ++role) {
      Buffer x(dtype, 2 * 36 * 3, 1), y(dtype, 2 * 9 * 3, 2),
          dx(dtype, 2 * 36 * 3, 3);
      std::vector<float> wideY = y.wide, wideDx = dx.wide;
      pool(matmul.threads(), DTC_F32, dtc_pool_role(role), w, x.wide.data(),
           wideY.data(), wideDx.data());
      narrow.pool(dtype, dtc_pool_role(role), w, x.narrow.data(),
                  y.narrow.data(), dx.narrow.data());
      bool isGrad = role == DTC_POOL_MAX_GRAD || role == DTC_POOL_SUM_GRAD;
      expectRounded(dtype, isGrad ? wideDx : wideY,
                    isGrad ? dx.narrow : y.narrow, 4);
    }
}

/// Rounds to nearest, ties to even. NaN and infinity do not change.
TEST(Narrow, Rounding) {
  const float values[] = {1.0f + 0x1p-8f, 1.0f + 0x1p-8f + 0x1p-20f,
                          1.0f + 0x3p-8f, FLT_MAX,
                          -0.0f,          NAN};
  const float rounded[] = {1.0f,     1.0f + 0x1p-7f, 1.0f + 0x1p-6f,
                           INFINITY, -0.0f,          NAN};
  uint16_t bits[6];
  float back[6];
  convert(DTC_F32, values, DTC_BF16, bits, 6);
  convert(DTC_BF16, bits, DTC_F32, back, 6);
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(back[i], rounded[i]) << i;
  EXPECT_TRUE(std::isnan(back[5]));
}
