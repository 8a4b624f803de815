//===- Orthonormalize.cpp - orthonormal columns ---------------------------===//
//
// Gram-Schmidt, twice: where a column depends on those before it, its rest is
// rounding errors, which the first time does not make orthogonal. One thread
// does it, since a matrix has few columns.
//
//===----------------------------------------------------------------------===//

#include "Orthonormalize.h"

#include <algorithm>
#include <cmath>

using namespace dtc::rt;

template <typename T>
static void orthonormalizeAll(int64_t batch, int64_t rows, int64_t columns,
                              const void *x, void *y) {
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
    for (int64_t column = 0; column < columns; ++column)
      for (int time = 0; time < 2; ++time) {
        T *own = matrix + column;
        for (int64_t before = 0; before < column; ++before) {
          const T *other = matrix + before;
          double part = dot(own, other);
          for (int64_t row = 0; row < rows; ++row)
            own[row * columns] = T(double(own[row * columns]) -
                                   part * double(other[row * columns]));
        }
        double norm = std::sqrt(dot(own, own));
        for (int64_t row = 0; norm > 0 && row < rows; ++row)
          own[row * columns] = T(double(own[row * columns]) / norm);
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
