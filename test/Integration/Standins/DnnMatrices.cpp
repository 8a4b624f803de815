//===- DnnMatrices.cpp - products and sums of the stand-in of cuDNN -------===//
//
// Operations on tensors of [batch, heads, rows, columns]. If one has fewer
// heads than another, its head serves a group of the other's heads.
//
//===----------------------------------------------------------------------===//

#include "DnnDescriptor.h"

#include <algorithm>
#include <limits>

using namespace dtc::standin;

using Dims = std::vector<int64_t>;

static void expectFour(const Tensor &tensor, const char *what) {
  if (tensor.dims.size() != 4)
    refuse(CUDNN_STATUS_BAD_PARAM, "%s of %zu dimensions, expected 4", what,
           tensor.dims.size());
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

namespace {
struct Product {
  Tensor a, b, c;
  explicit Product(const Descriptor &operation)
      : a(operation.tensor(CUDNN_ATTR_OPERATION_MATMUL_ADESC)),
        b(operation.tensor(CUDNN_ATTR_OPERATION_MATMUL_BDESC)),
        c(operation.tensor(CUDNN_ATTR_OPERATION_MATMUL_CDESC)) {}
};
} // namespace

void dtc::standin::checkMatmul(const Descriptor &operation) {
  Product p(operation);
  for (const Tensor *tensor : {&p.a, &p.b, &p.c})
    expectFour(*tensor, "a product");
  if (p.a.dims[0] != p.c.dims[0] || p.b.dims[0] != p.c.dims[0] ||
      p.a.dims[1] != p.c.dims[1] || p.c.dims[1] % p.b.dims[1] ||
      p.a.dims[2] != p.c.dims[2] || p.b.dims[3] != p.c.dims[3] ||
      p.a.dims[3] != p.b.dims[2])
    refuse(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH,
           "operands of a product do not fit");
}

void dtc::standin::runMatmul(const Descriptor &operation, Engine,
                             std::map<int64_t, Elements> &elements) {
  Product p(operation);
  const Elements &a = elements[p.a.identifier], &b = elements[p.b.identifier];
  Elements c(size_t(p.c.count()), 0.0);
  int64_t heads = p.c.dims[1], groups = p.b.dims[1];
  int64_t m = p.c.dims[2], n = p.c.dims[3], k = p.a.dims[3];
  for (int64_t batch = 0; batch < p.c.dims[0]; ++batch)
    for (int64_t head = 0; head < heads; ++head) {
      int64_t own = batch * heads + head;
      int64_t group = batch * groups + head / (heads / groups);
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < k; ++j) {
          double factor = a[size_t((own * m + i) * k + j)];
          for (int64_t l = 0; l < n; ++l)
            c[size_t((own * m + i) * n + l)] +=
                factor * b[size_t((group * k + j) * n + l)];
        }
    }
  elements[p.c.identifier] = std::move(c);
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// Dimensions that the result has fewer of are reduced: to one, or heads to
/// groups.
void dtc::standin::checkReduction(const Descriptor &operation) {
  Tensor x = operation.tensor(CUDNN_ATTR_OPERATION_REDUCTION_XDESC);
  Tensor y = operation.tensor(CUDNN_ATTR_OPERATION_REDUCTION_YDESC);
  auto mode = operation.reference(CUDNN_ATTR_OPERATION_REDUCTION_DESC)
                  .number<cudnnReduceTensorOp_t>(CUDNN_ATTR_REDUCTION_OPERATOR);
  expectFour(x, "a reduction");
  expectFour(y, "a reduction");
  if (mode != CUDNN_REDUCE_TENSOR_ADD && mode != CUDNN_REDUCE_TENSOR_MAX)
    refuse(CUDNN_STATUS_NOT_SUPPORTED,
           "reduction %d, which the stand-in does not have", mode);
  for (size_t i = 0; i < 4; ++i)
    if (y.dims[i] != x.dims[i] && y.dims[i] != 1 &&
        !(i == 1 && x.dims[i] % y.dims[i] == 0))
      refuse(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH,
             "dimension %zu of a reduction does not fit", i);
}

void dtc::standin::runReduction(const Descriptor &operation, Engine,
                                std::map<int64_t, Elements> &elements) {
  Tensor x = operation.tensor(CUDNN_ATTR_OPERATION_REDUCTION_XDESC);
  Tensor y = operation.tensor(CUDNN_ATTR_OPERATION_REDUCTION_YDESC);
  bool isMax =
      operation.reference(CUDNN_ATTR_OPERATION_REDUCTION_DESC)
          .number<cudnnReduceTensorOp_t>(CUDNN_ATTR_REDUCTION_OPERATOR) ==
      CUDNN_REDUCE_TENSOR_MAX;
  const Elements &from = elements[x.identifier];
  Elements result(size_t(y.count()),
                  isMax ? -std::numeric_limits<double>::infinity() : 0.0);
  forEachIndex(x.dims, [&](size_t i, const Dims &index) {
    int64_t place = 0;
    for (size_t dim = 0; dim < 4; ++dim)
      place = place * y.dims[dim] + index[dim] / (x.dims[dim] / y.dims[dim]);
    double &value = result[size_t(place)];
    value = isMax ? std::max(value, from[i]) : value + from[i];
  });
  elements[y.identifier] = std::move(result);
}

//===----------------------------------------------------------------------===//
// Transposes
//===----------------------------------------------------------------------===//

static bool isTransposed(const Tensor &x, const Tensor &y) {
  return x.dims[0] == y.dims[0] && x.dims[1] == y.dims[1] &&
         x.dims[2] == y.dims[3] && x.dims[3] == y.dims[2];
}

void dtc::standin::checkTranspose(const Descriptor &operation) {
  Tensor x = operation.tensor(CUDNN_ATTR_OPERATION_RESHAPE_XDESC);
  Tensor y = operation.tensor(CUDNN_ATTR_OPERATION_RESHAPE_YDESC);
  expectFour(x, "a reshape");
  expectFour(y, "a reshape");
  // The library sees by strides what becomes what.
  bool isView = x.isVirtual ? y.strides[2] == 1 && y.strides[3] == y.dims[2]
                            : y.strides[2] == x.strides[3] &&
                                  y.strides[3] == x.strides[2];
  if (!isTransposed(x, y) || !isView)
    refuse(CUDNN_STATUS_NOT_SUPPORTED,
           "a reshape that is no transpose, which the stand-in does not have");
}

void dtc::standin::runTranspose(const Descriptor &operation, Engine,
                                std::map<int64_t, Elements> &elements) {
  Tensor x = operation.tensor(CUDNN_ATTR_OPERATION_RESHAPE_XDESC);
  Tensor y = operation.tensor(CUDNN_ATTR_OPERATION_RESHAPE_YDESC);
  const Elements &from = elements[x.identifier];
  Elements result(from.size());
  int64_t rows = x.dims[2], columns = x.dims[3];
  forEachIndex(x.dims, [&](size_t i, const Dims &index) {
    int64_t matrix = index[0] * x.dims[1] + index[1];
    result[size_t((matrix * columns + index[3]) * rows + index[2])] = from[i];
  });
  elements[y.identifier] = std::move(result);
}
