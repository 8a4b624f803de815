//===- CompressionTest.cpp - selection and orthonormal columns ------------===//

#include "Device/CPU/Compression/Orthonormalize.h"
#include "Device/CPU/Compression/TopK.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

using namespace dtc::rt;

template <typename T>
static std::vector<int32_t> selectBySorting(const std::vector<T> &x,
                                            int64_t k) {
  std::vector<int32_t> order(x.size());
  std::iota(order.begin(), order.end(), 0);
  auto rank = [&](int32_t i) {
    return std::isnan(x[i]) ? std::pair(1, T(0)) : std::pair(0, std::abs(x[i]));
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](int32_t a, int32_t b) { return rank(a) > rank(b); });
  order.resize(k);
  std::sort(order.begin(), order.end());
  return order;
}

template <typename T> static void checkSelection(dtc_dtype dtype) {
  std::mt19937 random(1);
  std::normal_distribution<T> normal;
  for (int threads : {1, 3})
    for (int64_t size : {1, 7, 1000, 200000}) {
      std::vector<T> x(size);
      for (T &value : x) // many equal magnitudes
        value = std::round(normal(random) * 8) / 8;
      if (size > 10) {
        x[3] = std::numeric_limits<T>::quiet_NaN();
        x[5] = -std::numeric_limits<T>::infinity();
        x[6] = std::numeric_limits<T>::denorm_min();
      }
      for (int64_t k : {int64_t(1), (size + 9) / 10, size}) {
        std::vector<int32_t> found(k);
        selectLargest(Threads(threads), dtype, 1, size, k, x.data(),
                      found.data());
        EXPECT_EQ(found, selectBySorting(x, k)) << size << " " << k;
      }
    }
}

TEST(Compression, SelectsTheLargestMagnitudes) {
  checkSelection<float>(DTC_F32);
  checkSelection<double>(DTC_F64);
}

TEST(Compression, SelectsInEachRow) {
  std::vector<float> x = {1, -3, 2, 0, 0, 5};
  std::vector<int32_t> found(4);
  selectLargest(Threads(1), DTC_F32, 2, 3, 2, x.data(), found.data());
  EXPECT_EQ(found, (std::vector<int32_t>{1, 2, 0, 2}));
}

TEST(Compression, MakesColumnsOrthonormal) {
  constexpr int rows = 50, columns = 4;
  std::mt19937 random(2);
  std::normal_distribution<double> normal;
  std::vector<double> x(rows * columns), y(x.size());
  for (double &value : x)
    value = normal(random);
  orthonormalize(DTC_F64, 1, rows, columns, x.data(), y.data());
  for (int a = 0; a < columns; ++a)
    for (int b = 0; b < columns; ++b) {
      double dot = 0;
      for (int row = 0; row < rows; ++row)
        dot += y[row * columns + a] * y[row * columns + b];
      EXPECT_NEAR(dot, a == b ? 1 : 0, 1e-12);
    }
  for (int row = 0; row < rows; ++row) // a smaller rank
    x[row * columns + 2] = x[row * columns] - x[row * columns + 1];
  orthonormalize(DTC_F64, 1, rows, columns, x.data(), y.data());
  for (int a = 0; a < columns; ++a) {
    double dot = 0;
    for (int row = 0; row < rows; ++row)
      dot += y[row * columns + a] * y[row * columns + 2];
    EXPECT_NEAR(dot, a == 2 ? 1 : 0, 1e-12);
  }
  std::fill(x.begin(), x.end(), 0); // vanished gradients
  orthonormalize(DTC_F64, 1, rows, columns, x.data(), y.data());
  EXPECT_EQ(y, x);
}
