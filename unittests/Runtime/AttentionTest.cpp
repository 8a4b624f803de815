//===- AttentionTest.cpp - attention in blocks ----------------------------===//
//
// Compared with sums in f64 over all keys, and its gradients with differences
// of these sums.
//
//===----------------------------------------------------------------------===//

#include "Device/CPU/Attention/Attention.h"

#include "Core/Elements.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>
#include <vector>

using namespace dtc::rt;

namespace {

using Numbers = std::vector<double>;

/// Numbers that are exact in the element type.
struct Buffer {
  Numbers numbers;
  std::vector<char> stored;

  Buffer(dtc_dtype dtype, int64_t count, unsigned seed)
      : numbers(size_t(count)), stored(size_t(count * sizeOf(dtype))) {
    std::mt19937 generator(seed);
    std::uniform_real_distribution<double> distribution(-1, 1);
    for (double &number : numbers)
      number = distribution(generator);
    convert(DTC_F64, numbers.data(), dtype, stored.data(), count);
    convert(dtype, stored.data(), DTC_F64, numbers.data(), count);
  }
};

Numbers read(dtc_dtype dtype, const std::vector<char> &stored) {
  Numbers numbers(stored.size() / size_t(sizeOf(dtype)));
  convert(dtype, stored.data(), DTC_F64, numbers.data(),
          int64_t(numbers.size()));
  return numbers;
}

struct Reference {
  Numbers result, lse;
};

/// By the definition.
Reference compute(const AttentionShape &s, const Numbers &q, const Numbers &k,
                  const Numbers &v, const Numbers &mask) {
  Reference y{Numbers(size_t(s.batch * s.rows * s.heads * s.valueWidth)),
              Numbers(size_t(s.batch * s.heads * s.rows))};
  for (int64_t b = 0; b < s.batch; ++b)
    for (int64_t h = 0; h < s.heads; ++h)
      for (int64_t t = 0; t < s.rows; ++t) {
        int64_t g = h / (s.heads / s.groups);
        int64_t seen = s.causal ? t + 1 : s.columns;
        Numbers weights;
        double total = 0;
        for (int64_t c = 0; c < seen; ++c) {
          double sum = 0;
          for (int64_t d = 0; d < s.width; ++d)
            sum +=
                q[size_t(((b * s.rows + t) * s.heads + h) * s.width + d)] *
                k[size_t(((b * s.columns + c) * s.groups + g) * s.width + d)];
          sum *= s.scale;
          int64_t number = s.maskDims & DTC_MASK_BATCH ? b : 0;
          number = s.maskDims & DTC_MASK_HEADS ? number * s.heads + h : number;
          number = s.maskDims & DTC_MASK_QUERIES ? number * s.rows + t : number;
          if (s.maskDims)
            sum += mask[size_t(number * s.columns + c)];
          weights.push_back(std::exp(sum));
          total += weights.back();
        }
        y.lse[size_t((b * s.heads + h) * s.rows + t)] =
            total == 0 ? INFINITY : std::log(total);
        for (int64_t e = 0; e < s.valueWidth && total != 0; ++e)
          for (int64_t c = 0; c < seen; ++c)
            y.result[size_t(((b * s.rows + t) * s.heads + h) * s.valueWidth +
                            e)] +=
                weights[size_t(c)] / total *
                v[size_t(((b * s.columns + c) * s.groups + g) * s.valueWidth +
                         e)];
      }
  return y;
}

double toleranceOf(dtc_dtype dtype) {
  return dtype == DTC_F64    ? 1e-12
         : dtype == DTC_F32  ? 3e-6
         : dtype == DTC_BF16 ? 0x1p-7
                             : 0x1p-9;
}

void expectNear(dtc_dtype dtype, const Numbers &found, const Numbers &expected,
                const char *what) {
  for (size_t i = 0; i < expected.size(); ++i)
    if (std::isinf(expected[i]))
      ASSERT_EQ(found[i], expected[i]) << what << " at " << i;
    else
      ASSERT_NEAR(found[i], expected[i],
                  toleranceOf(dtype) * (1 + std::fabs(expected[i])))
          << nameOf(dtype) << " " << what << " at " << i;
}

/// One attention of a shape: forward, and gradients along random directions.
void check(AttentionShape s, int threads, bool hidesRow = false) {
  int64_t keys = s.batch * s.columns * s.groups;
  Buffer q(s.dtype, s.batch * s.rows * s.heads * s.width, 1),
      k(s.dtype, keys * s.width, 2), v(s.dtype, keys * s.valueWidth, 3),
      mask(s.dtype, s.batch * s.heads * s.rows * s.columns, 4),
      dy(s.dtype, s.batch * s.rows * s.heads * s.valueWidth, 5);
  if (hidesRow) {
    std::fill_n(mask.numbers.begin(), s.columns, -INFINITY);
    mask.numbers[size_t(s.columns + 1)] = -INFINITY;
    convert(DTC_F64, mask.numbers.data(), s.dtype, mask.stored.data(),
            int64_t(mask.numbers.size()));
  }
  dtc_dtype sums = s.dtype == DTC_F64 ? DTC_F64 : DTC_F32;
  Reference expected =
      compute(s, q.numbers, k.numbers, v.numbers, mask.numbers);
  std::vector<char> result(dy.stored.size()),
      lse(expected.lse.size() * size_t(sizeOf(sums))), dq(q.stored.size()),
      dk(k.stored.size()), dv(v.stored.size());
  MatMul matmul(MatMulEngine::builtin, threads);
  Attention attention(matmul);
  AttentionBuffers buffers{q.stored.data(), k.stored.data(), v.stored.data(),
                           mask.stored.data()};
  attention.forward(s, buffers, result.data(), lse.data());
  expectNear(s.dtype, read(s.dtype, result), expected.result, "result");
  expectNear(sums, read(sums, lse), expected.lse, "lse");

  attention.backward(s, buffers,
                     {result.data(), lse.data(), dy.stored.data(), dq.data(),
                      dk.data(), dv.data()});
  auto weigh = [&](const Numbers &q, const Numbers &k, const Numbers &v) {
    Numbers y = compute(s, q, k, v, mask.numbers).result;
    double sum = 0;
    for (size_t i = 0; i < y.size(); ++i)
      sum += y[i] * dy.numbers[i];
    return sum;
  };
  std::mt19937 generator(6);
  auto differ = [&](const Numbers &x, const std::vector<char> &gradient,
                    auto function, const char *what) {
    Numbers found = read(s.dtype, gradient);
    Numbers above = x, below = x;
    double expected = 0, size = 0;
    std::normal_distribution<double> distribution;
    for (size_t i = 0; i < x.size(); ++i) {
      double direction = distribution(generator);
      above[i] += 1e-5 * direction;
      below[i] -= 1e-5 * direction;
      expected += found[i] * direction;
      size += found[i] * found[i];
    }
    double difference = (function(above) - function(below)) / 2e-5;
    ASSERT_NEAR(expected, difference,
                (toleranceOf(s.dtype) + 1e-8) * (1 + std::sqrt(size)))
        << nameOf(s.dtype) << " gradient of " << what;
  };
  differ(
      q.numbers, dq, [&](auto &x) { return weigh(x, k.numbers, v.numbers); },
      "queries");
  differ(
      k.numbers, dk, [&](auto &x) { return weigh(q.numbers, x, v.numbers); },
      "keys");
  differ(
      v.numbers, dv, [&](auto &x) { return weigh(q.numbers, k.numbers, x); },
      "values");
}

constexpr dtc_dtype types[] = {DTC_F32, DTC_F64, DTC_BF16, DTC_F16};

} // namespace

TEST(Attention, Causal) {
  for (dtc_dtype type : types)
    check({type, true, 0.3, 2, 100, 100, 4, 2, 7, 5, 0}, 2);
}

TEST(Attention, Cross) {
  for (dtc_dtype type : types)
    check({type, false, 0.5, 2, 9, 33, 3, 3, 8, 8, 0}, 3);
}

TEST(Attention, Masked) {
  for (dtc_dtype type : types)
    for (int dims : {0, int(DTC_MASK_BATCH), DTC_MASK_HEADS | DTC_MASK_QUERIES,
                     DTC_MASK_BATCH | DTC_MASK_QUERIES,
                     DTC_MASK_BATCH | DTC_MASK_HEADS | DTC_MASK_QUERIES})
      check({type, false, 1, 2, 5, 18, 4, 2, 3, 4, dims | DTC_MASK_GIVEN}, 1);
}

/// A row that sees nothing, and one of which a key is hidden.
TEST(Attention, HidesKeys) {
  for (dtc_dtype type : types)
    check({type, false, 1, 1, 3, 20, 2, 1, 3, 4,
           DTC_MASK_GIVEN | DTC_MASK_QUERIES},
          1, /*hidesRow=*/true);
}

/// Bits do not depend on the number of threads.
TEST(Attention, Threads) {
  AttentionShape s = {DTC_F32, true, 0.3, 3, 150, 150, 6, 2, 16, 16, 0};
  Buffer q(DTC_F32, 3 * 150 * 6 * 16, 1), k(DTC_F32, 3 * 150 * 2 * 16, 2);
  std::vector<char> results[2];
  for (int threads : {1, 5}) {
    MatMul matmul(MatMulEngine::builtin, threads);
    Attention attention(matmul);
    std::vector<char> &result = results[threads == 1];
    result.resize(q.stored.size());
    std::vector<float> lse(3 * 6 * 150);
    attention.forward(
        s, {q.stored.data(), k.stored.data(), k.stored.data(), nullptr},
        result.data(), lse.data());
  }
  EXPECT_EQ(results[0], results[1]);
}
