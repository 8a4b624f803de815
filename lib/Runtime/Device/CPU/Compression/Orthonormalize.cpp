//===- Orthonormalize.cpp - orthonormal columns ---------------------------===//
//
// Modified Gram-Schmidt. One thread does it: a matrix has few columns.
//
//===----------------------------------------------------------------------===//

#include "Orthonormalize.h"

#include <algorithm>
#include <cmath>

using namespace dtc::rt;

template <typename T>
static void orthonormalizeAll(int64_t batch, int64_t rows, int64_t columns,
                              const void *x, void *y) {
  constexpr double tiny = 1e-8; // a column of zeros stays zero
  int64_t size = rows * columns;
  std::copy_n(static_cast<const T *>(x), batch * size, static_cast<T *>(y));
  auto dot = [&](const T *a, const T *b) {
    double sum = 0;
    for (int64_t row = 0; row < rows; ++row)
      sum += double(a[row * columns]) * double(b[row * columns]);
    return sum;
  };
  for (int64_t i = 0; i < batch; ++i) {
    T *matrix = static_cast<T *>(y) + i * size;
    for (int64_t column = 0; column < columns; ++column) {
      T *own = matrix + column;
      double norm = std::sqrt(dot(own, own)) + tiny;
      for (int64_t row = 0; row < rows; ++row)
        own[row * columns] = T(double(own[row * columns]) / norm);
      for (int64_t next = column + 1; next < columns; ++next) {
        T *other = matrix + next;
        double part = dot(own, other);
        for (int64_t row = 0; row < rows; ++row)
          other[row * columns] = T(double(other[row * columns]) -
                                   part * double(own[row * columns]));
      }
    }
  }
}

void dtc::rt::orthonormalize(dtc_dtype dtype, int64_t batch, int64_t rows,
                             int64_t columns, const void *x, void *y) {
  if (dtype == DTC_F64)
    orthonormalizeAll<double>(batch, rows, columns, x, y);
  else
    orthonormalizeAll<float>(batch, rows, columns, x, y);
}
