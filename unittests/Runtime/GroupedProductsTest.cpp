//===- GroupedProductsTest.cpp - products of rows by chosen matrices ------===//
//
// Compares with a loop over rows, in double.
//
//===----------------------------------------------------------------------===//

#include "Device/CPU/Grouped/GroupedProducts.h"
#include "Device/CPU/Grouped/Slots.h"

#include "Core/Elements.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <vector>

using namespace dtc::rt;

namespace {

/// Elements of a type, from numbers in double and back.
std::vector<char> store(dtc_dtype dtype, const std::vector<double> &numbers) {
  std::vector<char> bytes(numbers.size() * sizeOf(dtype));
  convert(DTC_F64, numbers.data(), dtype, bytes.data(),
          int64_t(numbers.size()));
  return bytes;
}
std::vector<double> load(dtc_dtype dtype, const std::vector<char> &bytes) {
  std::vector<double> numbers(bytes.size() / sizeOf(dtype));
  convert(dtype, bytes.data(), DTC_F64, numbers.data(),
          int64_t(numbers.size()));
  return numbers;
}

struct Case {
  dtc_dtype dtype;
  int64_t rows, matrices, k, n;
  bool isTransposed, keepsSums, is32;
};

class Check {
public:
  explicit Check(const Case &c) : c(c) {
    std::mt19937 random(3);
    std::normal_distribution<double> normal;
    // Matrix 1 has no rows, and matrix 0 more than a block.
    std::discrete_distribution<int64_t> choice{5, 0, 1, 1, 2};
    auto fill = [&](int64_t count) {
      std::vector<double> numbers(count);
      for (double &number : numbers)
        number = std::round(normal(random) * 16) / 16; // exact in bf16
      return numbers;
    };
    x = fill(c.rows * c.k);
    y = fill(c.rows * c.n);
    w = fill(c.matrices * c.k * c.n);
    for (int64_t row = 0; row < c.rows; ++row)
      indices.push_back(choice(random) % c.matrices);
    narrow.assign(indices.begin(), indices.end());
  }

  dtc_dtype resultType() const {
    return !c.keepsSums || c.dtype == DTC_F64 ? c.dtype : DTC_F32;
  }
  GroupedShape shape(bool accumulates) const {
    return {c.dtype,
            c.is32 ? DTC_I32 : DTC_I64,
            c.isTransposed,
            accumulates,
            c.keepsSums,
            c.rows,
            c.matrices,
            c.k,
            c.n};
  }
  const void *places() const {
    return c.is32 ? (const void *)narrow.data() : indices.data();
  }

  std::vector<char> multiply(int threads) const {
    MatMul matmul(MatMulEngine::builtin, threads);
    GroupedProducts products(matmul);
    std::vector<char> result(c.rows * c.n * sizeOf(resultType()));
    products.multiply(shape(false), store(c.dtype, x).data(),
                      store(c.dtype, w).data(), places(), result.data());
    return result;
  }
  std::vector<char> sumOuter(int threads, bool accumulates) const {
    MatMul matmul(MatMulEngine::builtin, threads);
    GroupedProducts products(matmul);
    std::vector<char> result =
        store(resultType(), std::vector<double>(w.size(), 2));
    products.sumOuter(shape(accumulates), store(c.dtype, x).data(),
                      store(c.dtype, y).data(), places(), result.data());
    return result;
  }

  void run() const {
    double tolerance = c.dtype == DTC_F64        ? 1e-13
                       : resultType() == DTC_F32 ? 1e-5
                       : resultType() == DTC_F16 ? 2e-3
                                                 : 1e-2;
    std::vector<char> bits = multiply(1);
    EXPECT_EQ(bits, multiply(3)) << "by 3 threads";
    std::vector<double> found = load(resultType(), bits);
    for (int64_t row = 0; row < c.rows; ++row)
      for (int64_t j = 0; j < c.n; ++j) {
        double sum = 0, size = 0;
        for (int64_t p = 0; p < c.k; ++p) {
          double weight = w[(indices[row] * c.k * c.n) +
                            (c.isTransposed ? j * c.k + p : p * c.n + j)];
          sum += x[row * c.k + p] * weight;
          size += std::abs(x[row * c.k + p] * weight);
        }
        ASSERT_NEAR(found[row * c.n + j], sum, tolerance * (size + 1))
            << row << ", " << j;
      }
    for (bool accumulates : {false, true}) {
      std::vector<char> outer = sumOuter(1, accumulates);
      EXPECT_EQ(outer, sumOuter(3, accumulates)) << "by 3 threads";
      checkOuter(load(resultType(), outer), accumulates ? 2 : 0, tolerance);
    }
  }

  void checkOuter(const std::vector<double> &found, double first,
                  double tolerance) const {
    std::vector<double> sums(w.size(), first), sizes(w.size(), 1);
    for (int64_t row = 0; row < c.rows; ++row)
      for (int64_t i = 0; i < c.k; ++i)
        for (int64_t j = 0; j < c.n; ++j) {
          int64_t at = (indices[row] * c.k + i) * c.n + j;
          sums[at] += x[row * c.k + i] * y[row * c.n + j];
          sizes[at] += std::abs(x[row * c.k + i] * y[row * c.n + j]);
        }
    for (size_t i = 0; i < sums.size(); ++i)
      ASSERT_NEAR(found[i], sums[i], tolerance * sizes[i]) << i;
  }

  Case c;
  std::vector<double> x, y, w;
  std::vector<int64_t> indices;
  std::vector<int32_t> narrow;
};

} // namespace

TEST(GroupedProducts, EqualsALoopOverRows) {
  for (dtc_dtype dtype : {DTC_F32, DTC_F64, DTC_BF16, DTC_F16})
    for (bool isTransposed : {false, true})
      for (bool keepsSums : {false, true})
        for (auto [rows, k, n] : {std::tuple(1, 3, 5), std::tuple(37, 16, 8),
                                  std::tuple(700, 33, 70)}) {
          SCOPED_TRACE(testing::Message()
                       << nameOf(dtype) << ' ' << rows << ' ' << k << ' ' << n
                       << ' ' << isTransposed << keepsSums);
          Check({dtype, rows, 5, k, n, isTransposed, keepsSums, rows == 37})
              .run();
        }
}

TEST(GroupedProducts, CutsWideMatrices) {
  Check({DTC_F32, 20, 3, 40, 1100, false, true, false}).run();
  Check({DTC_F32, 20, 3, 1100, 40, true, true, false}).run();
}

TEST(GroupedProducts, MakesRowsOfNoMatrixNaN) {
  MatMul matmul(MatMulEngine::builtin, 1);
  GroupedProducts products(matmul);
  std::vector<float> x = {1, 2, 3}, w = {10, 20}, y(3);
  std::vector<int64_t> indices = {1, 2, -1};
  GroupedShape shape = {DTC_F32, DTC_I64, false, false, false, 3, 2, 1, 1};
  products.multiply(shape, x.data(), w.data(), indices.data(), y.data());
  EXPECT_EQ(y[0], 20);
  EXPECT_TRUE(std::isnan(y[1]) && std::isnan(y[2]));
  products.sumOuter(shape, x.data(), x.data(), indices.data(), w.data());
  EXPECT_EQ(w, (std::vector<float>{0, 1}));
}

//===----------------------------------------------------------------------===//
// Slots
//===----------------------------------------------------------------------===//

/// Two groups of three rows with one element, for three experts of two slots.
/// Expert 1 has no slot for the last row of the first group, and the second
/// group has an index of no expert.
TEST(Slots, HoldRowsInOrder) {
  std::vector<float> rows = {1, 2, 3, 4, 5, 6}, slots(12, -1), back(6, -1);
  std::vector<int32_t> indices = {1, 1, 1, 2, 7, 0}, counts(6, -1);
  SlotShape shape = {DTC_F32, DTC_I32, 2, 3, 3, 2, 1};
  for (int threads : {1, 3}) {
    dispatchRows(Threads(threads), shape, rows.data(), indices.data(),
                 slots.data());
    EXPECT_EQ(slots, (std::vector<float>{0, 0, 6, 0, 1, 2, 0, 0, 0, 0, 4, 0}));
    combineRows(Threads(threads), shape, slots.data(), indices.data(),
                back.data());
    EXPECT_EQ(back, (std::vector<float>{1, 2, 0, 4, 0, 6}));
  }
  countRows(shape, indices.data(), counts.data());
  EXPECT_EQ(counts, (std::vector<int32_t>{0, 1, 2, 0, 0, 1}));
}

/// The products of filled slots, as of rows with their experts as indices.
TEST(Slots, AreMultipliedByTheirExperts) {
  constexpr int64_t experts = 3, groups = 2, capacity = 4, k = 5, n = 7;
  std::mt19937 random(4);
  std::normal_distribution<double> normal;
  std::vector<int32_t> counts = {4, 0, 2, 3, 0, 0};
  std::vector<int64_t> indices;
  std::vector<double> x(experts * groups * capacity * k), y(x.size() / k * n),
      w(experts * k * n);
  for (auto *numbers : {&x, &y, &w})
    for (double &number : *numbers)
      number = normal(random);
  for (int64_t block = 0; block < experts * groups; ++block)
    for (int64_t place = 0; place < capacity; ++place)
      indices.push_back(place < counts[block] ? block / groups : -1);
  int64_t rows = int64_t(indices.size());

  MatMul matmul(MatMulEngine::builtin, 2);
  GroupedProducts products(matmul);
  ExpertShape slots = {DTC_F64, false,    false, false, experts,
                       groups,  capacity, k,     n};
  GroupedShape grouped = {DTC_F64, DTC_I64, false, false, false,
                          rows,    experts, k,     n};
  std::vector<double> found(y.size()), expected(y.size());
  products.multiplySlots(slots, x.data(), w.data(), counts.data(),
                         found.data());
  products.multiply(grouped, x.data(), w.data(), indices.data(),
                    expected.data());
  for (double &number : expected)
    number = std::isnan(number) ? 0 : number; // of an empty slot
  EXPECT_EQ(found, expected);

  // Whatever the counts, calls stay within their slots.
  std::vector<int32_t> wrong = {-1, INT32_MAX, 2, INT32_MIN, 5, 0};
  products.multiplySlots(slots, x.data(), w.data(), wrong.data(), found.data());
  products.sumOuterSlots(slots, x.data(), y.data(), wrong.data(),
                         expected.data());

  found.assign(w.size(), NAN);
  expected.assign(w.size(), NAN);
  products.sumOuterSlots(slots, x.data(), y.data(), counts.data(),
                         found.data());
  products.sumOuter(grouped, x.data(), y.data(), indices.data(),
                    expected.data());
  EXPECT_EQ(found, expected);
}
