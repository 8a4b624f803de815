//===- Interpreter.cpp - executes dtc ops in double precision -------------===//
//
// One overload of `evaluate` per op or family; none is clever.
//
//===----------------------------------------------------------------------===//

#include "Interpreter.h"
#include "dtc/Dialect/Dialect.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/ErrorHandling.h"
#include <cmath>
#include <functional>
#include <numeric>

using namespace mlir;

namespace dtc {

HostTensor::HostTensor(ArrayRef<int64_t> shape, double value)
    : shape(shape), data(ShapedType::getNumElements(shape), value) {}

namespace {

using Index = SmallVector<int64_t>;
using Tensors = std::vector<HostTensor>;
using Operands = ArrayRef<const HostTensor *>;

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

void forEachIndex(ArrayRef<int64_t> shape,
                  function_ref<void(ArrayRef<int64_t>)> body) {
  Index index(shape.size(), 0);
  for (int64_t n = ShapedType::getNumElements(shape); n > 0; --n) {
    body(index);
    for (int64_t d = shape.size() - 1; d >= 0; --d) {
      if (++index[d] < shape[d])
        break;
      index[d] = 0;
    }
  }
}

/// The element of a tensor at an index of a shape that it broadcasts to.
template <typename TensorT> auto &at(TensorT &tensor, ArrayRef<int64_t> index) {
  int64_t offset = 0;
  int64_t skipped = index.size() - tensor.shape.size();
  for (auto [d, size] : llvm::enumerate(tensor.shape))
    offset = offset * size + (size == 1 ? 0 : index[skipped + d]);
  return tensor.data[offset];
}

HostTensor makeResult(Operation *op, unsigned number = 0) {
  return HostTensor(
      cast<ShapedType>(op->getResult(number).getType()).getShape());
}

/// An element at a time, operands broadcast.
Tensors evaluateElementwise(Operation *op, Operands operands,
                            function_ref<double(ArrayRef<double>)> function) {
  HostTensor result = makeResult(op);
  forEachIndex(result.shape, [&](ArrayRef<int64_t> index) {
    SmallVector<double> elements;
    for (const HostTensor *operand : operands)
      elements.push_back(at(*operand, index));
    at(result, index) = function(elements);
  });
  return {result};
}

/// A row (the last dimension) at a time.
void forEachRow(const HostTensor &x,
                function_ref<void(int64_t row, ArrayRef<double>)> body) {
  int64_t width = x.shape.back();
  for (int64_t row = 0; row * width < x.size(); ++row)
    body(row, ArrayRef(x.data).slice(row * width, width));
}

double logSumExp(ArrayRef<double> row) {
  double max = *llvm::max_element(row), sum = 0;
  for (double x : row)
    sum += std::exp(x - max);
  return max + std::log(sum);
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

bool compare(Comparison predicate, double a, double b) {
  switch (predicate) {
  case Comparison::eq:
    return a == b;
  case Comparison::ne:
    return a != b;
  case Comparison::lt:
    return a < b;
  case Comparison::le:
    return a <= b;
  case Comparison::gt:
    return a > b;
  case Comparison::ge:
    return a >= b;
  }
  llvm_unreachable("unknown comparison");
}

/// The function of an elementwise op; null for other ops.
std::function<double(ArrayRef<double>)> getFunction(Operation *operation) {
  using E = ArrayRef<double>;
  using Function = std::function<double(E)>;
  return TypeSwitch<Operation *, Function>(operation)
      .Case([](NegOp) { return [](E e) { return -e[0]; }; })
      .Case([](AbsOp) { return [](E e) { return std::fabs(e[0]); }; })
      .Case([](ExpOp) { return [](E e) { return std::exp(e[0]); }; })
      .Case([](LogOp) { return [](E e) { return std::log(e[0]); }; })
      .Case([](SqrtOp) { return [](E e) { return std::sqrt(e[0]); }; })
      .Case([](ReciprocalOp) { return [](E e) { return 1 / e[0]; }; })
      .Case([](TanhOp) { return [](E e) { return std::tanh(e[0]); }; })
      .Case([](ErfOp) { return [](E e) { return std::erf(e[0]); }; })
      .Case([](SigmoidOp) {
        return [](E e) { return 1 / (1 + std::exp(-e[0])); };
      })
      .Case([](SinOp) { return [](E e) { return std::sin(e[0]); }; })
      .Case([](CosOp) { return [](E e) { return std::cos(e[0]); }; })
      .Case([](AtanOp) { return [](E e) { return std::atan(e[0]); }; })
      .Case([](FloorOp) { return [](E e) { return std::floor(e[0]); }; })
      .Case([](ReluOp) { return [](E e) { return std::max(e[0], 0.0); }; })
      .Case([](AddOp) { return [](E e) { return e[0] + e[1]; }; })
      .Case([](SubOp) { return [](E e) { return e[0] - e[1]; }; })
      .Case([](MulOp) { return [](E e) { return e[0] * e[1]; }; })
      .Case([](DivOp op) {
        bool truncates = isa<IntegerType>(getElementTypeOrSelf(op.getResult()));
        return [=](E e) {
          return truncates ? std::trunc(e[0] / e[1]) : e[0] / e[1];
        };
      })
      .Case([](PowOp) { return [](E e) { return std::pow(e[0], e[1]); }; })
      .Case([](MaximumOp) { return [](E e) { return std::max(e[0], e[1]); }; })
      .Case([](MinimumOp) { return [](E e) { return std::min(e[0], e[1]); }; })
      .Case([](CompareOp op) {
        return [=](E e) -> double {
          return compare(CompareOp(op).getPredicate(), e[0], e[1]);
        };
      })
      .Case([](LogicalAndOp) { return [](E e) { return e[0] && e[1]; }; })
      .Case([](LogicalOrOp) { return [](E e) { return e[0] || e[1]; }; })
      .Case([](LogicalNotOp) { return [](E e) -> double { return !e[0]; }; })
      .Case([](SelectOp) { return [](E e) { return e[0] ? e[1] : e[2]; }; })
      .Case([](CastOp op) {
        Type to = getElementTypeOrSelf(op.getY());
        return [=](E e) -> double {
          if (to.isInteger(1))
            return e[0] != 0;
          return isa<IntegerType>(to) ? std::trunc(e[0]) : e[0];
        };
      })
      .Case<BroadcastOp, BoundaryOp>(
          [](Operation *) { return [](E e) { return e[0]; }; })
      .Case([](SumOverStagesOp) {
        return [](E e) { return std::accumulate(e.begin(), e.end(), 0.0); };
      })
      .Default([](Operation *) { return Function(); });
}

//===----------------------------------------------------------------------===//
// Shape
//===----------------------------------------------------------------------===//

Tensors evaluate(ConstantOp op, Operands) {
  HostTensor result = makeResult(op);
  auto elements = cast<DenseElementsAttr>(op.getValue());
  if (isa<FloatType>(elements.getElementType()))
    for (auto [to, from] :
         llvm::zip(result.data, elements.getValues<APFloat>())) {
      APFloat value = from;
      bool isLossy;
      value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                    &isLossy);
      to = value.convertToDouble();
    }
  else
    for (auto [to, from] : llvm::zip(result.data, elements.getValues<APInt>()))
      to = from.getBitWidth() == 1 ? double(from.getZExtValue())
                                   : double(from.getSExtValue());
  return {result};
}

Tensors evaluate(ReshapeOp op, Operands operands) {
  HostTensor result = makeResult(op);
  result.data = operands[0]->data;
  return {result};
}

Tensors evaluate(TransposeOp op, Operands operands) {
  HostTensor result = makeResult(op);
  forEachIndex(result.shape, [&](ArrayRef<int64_t> index) {
    Index from(index.size());
    for (auto [d, source] : llvm::enumerate(op.getPermutation()))
      from[source] = index[d];
    at(result, index) = at(*operands[0], from);
  });
  return {result};
}

/// Copies between a part and its place along one dimension of the whole: to
/// the whole, unless that is const.
template <typename WholeT, typename PartT>
void copyRange(WholeT &whole, PartT &part, int64_t axis, int64_t start) {
  forEachIndex(part.shape, [&](ArrayRef<int64_t> index) {
    Index place(index);
    place[axis] += start;
    if constexpr (!std::is_const_v<WholeT>)
      at(whole, place) = at(part, index);
    else
      at(part, index) = at(whole, place);
  });
}

Tensors evaluate(SliceOp op, Operands operands) {
  HostTensor result = makeResult(op);
  copyRange(*operands[0], result, op.getAxis(), op.getStart());
  return {result};
}

Tensors evaluate(PadOp op, Operands operands) {
  HostTensor result = makeResult(op);
  copyRange(result, *operands[0], op.getAxis(), op.getStart());
  return {result};
}

Tensors evaluate(SplitOp op, Operands operands) {
  Tensors results;
  int64_t start = 0;
  for (unsigned i = 0; i < op.getNumResults(); ++i) {
    results.push_back(makeResult(op, i));
    copyRange(*operands[0], results.back(), op.getAxis(), start);
    start += results.back().shape[op.getAxis()];
  }
  return results;
}

Tensors evaluate(ConcatOp op, Operands operands) {
  HostTensor result = makeResult(op);
  int64_t start = 0;
  for (const HostTensor *part : operands) {
    copyRange(result, *part, op.getAxis(), start);
    start += part->shape[op.getAxis()];
  }
  return {result};
}

//===----------------------------------------------------------------------===//
// Reductions, normalisation, products, lookups
//===----------------------------------------------------------------------===//

Tensors evaluate(ReduceSumOp op, Operands operands) {
  HostTensor result = makeResult(op);
  forEachIndex(operands[0]->shape, [&](ArrayRef<int64_t> index) {
    at(result, index) += at(*operands[0], index);
  });
  return {result};
}

Tensors evaluate(ReduceMaxOp op, Operands operands) {
  HostTensor result = makeResult(op);
  llvm::fill(result.data, -INFINITY);
  forEachIndex(operands[0]->shape, [&](ArrayRef<int64_t> index) {
    double &max = at(result, index);
    max = std::max(max, at(*operands[0], index));
  });
  return {result};
}

Tensors evaluate(LogSoftmaxOp op, Operands operands) {
  HostTensor result = makeResult(op);
  forEachRow(*operands[0], [&](int64_t row, ArrayRef<double> x) {
    double total = logSumExp(x);
    for (auto [i, element] : llvm::enumerate(x))
      result.data[row * x.size() + i] = element - total;
  });
  return {result};
}

Tensors evaluate(SoftmaxOp op, Operands operands) {
  HostTensor result = makeResult(op);
  forEachRow(*operands[0], [&](int64_t row, ArrayRef<double> x) {
    double total = logSumExp(x);
    for (auto [i, element] : llvm::enumerate(x))
      result.data[row * x.size() + i] = std::exp(element - total);
  });
  return {result};
}

Tensors evaluate(LayerNormOp op, Operands operands) {
  Tensors results = {makeResult(op, 0), makeResult(op, 1), makeResult(op, 2)};
  forEachRow(*operands[0], [&](int64_t row, ArrayRef<double> x) {
    double n = x.size(), mean = 0, variance = 0;
    for (double element : x)
      mean += element / n;
    for (double element : x)
      variance += (element - mean) * (element - mean) / n;
    double rstd = 1 / std::sqrt(variance + op.getEpsilon().convertToDouble());
    for (auto [i, element] : llvm::enumerate(x))
      results[0].data[row * x.size() + i] =
          (element - mean) * rstd * operands[1]->data[i] + operands[2]->data[i];
    results[1].data[row] = mean;
    results[2].data[row] = rstd;
  });
  return results;
}

Tensors evaluate(MatMulOp op, Operands operands) {
  HostTensor result = makeResult(op);
  const HostTensor &a = *operands[0], &b = *operands[1];
  int64_t rank = a.shape.size();
  int64_t depth = a.shape[rank - (op.getTransposeLhs() ? 2 : 1)];
  forEachIndex(result.shape, [&](ArrayRef<int64_t> index) {
    Index i(index), j(index);
    double sum = 0;
    for (int64_t k = 0; k < depth; ++k) {
      i[rank - 2] = index[rank - 2], i[rank - 1] = k;
      j[rank - 2] = k, j[rank - 1] = index[rank - 1];
      if (op.getTransposeLhs())
        std::swap(i[rank - 2], i[rank - 1]);
      if (op.getTransposeRhs())
        std::swap(j[rank - 2], j[rank - 1]);
      sum += at(a, i) * at(b, j);
    }
    at(result, index) = sum;
  });
  return {result};
}

/// Calls with an index of the table and one of the indices followed by a row,
/// for all elements that correspond.
void forEachLookup(ArrayRef<int64_t> table, const HostTensor &indices,
                   int64_t batchDims,
                   function_ref<void(ArrayRef<int64_t> entry,
                                     ArrayRef<int64_t> element)>
                       body) {
  Index shape(indices.shape);
  shape.append(table.begin() + batchDims + 1, table.end());
  size_t indexRank = indices.shape.size();
  forEachIndex(shape, [&](ArrayRef<int64_t> element) {
    Index entry(element.take_front(batchDims));
    entry.push_back(at(indices, element.take_front(indexRank)));
    llvm::append_range(entry, element.drop_front(indexRank));
    body(entry, element);
  });
}

Tensors evaluate(GatherOp op, Operands operands) {
  HostTensor result = makeResult(op);
  forEachLookup(operands[0]->shape, *operands[1], op.getBatchDims(),
                [&](ArrayRef<int64_t> entry, ArrayRef<int64_t> element) {
                  at(result, element) = at(*operands[0], entry);
                });
  return {result};
}

Tensors evaluate(ScatterAddOp op, Operands operands) {
  HostTensor result = makeResult(op);
  forEachLookup(result.shape, *operands[0], op.getBatchDims(),
                [&](ArrayRef<int64_t> entry, ArrayRef<int64_t> element) {
                  at(result, entry) += at(*operands[1], element);
                });
  return {result};
}

Tensors evaluate(OneHotOp op, Operands operands) {
  HostTensor result = makeResult(op);
  forEachIndex(result.shape, [&](ArrayRef<int64_t> index) {
    at(result, index) = at(*operands[0], index.drop_back()) == index.back();
  });
  return {result};
}

//===----------------------------------------------------------------------===//
// Windows over images
//===----------------------------------------------------------------------===//

/// Calls with the indices [n, y, x] of a tap inside of the image, [n, p, q] of
/// the position, and [i, j] of the tap, for all that there are.
void forEachTap(
    const Window &w,
    function_ref<void(ArrayRef<int64_t> pixel, ArrayRef<int64_t> position,
                      ArrayRef<int64_t> tap)>
        body) {
  forEachIndex({w.batch, w.rows, w.columns, w.kernelHeight, w.kernelWidth},
               [&](ArrayRef<int64_t> i) {
                 int64_t y =
                     i[1] * w.strideHeight - w.top + i[3] * w.dilationHeight;
                 int64_t x =
                     i[2] * w.strideWidth - w.left + i[4] * w.dilationWidth;
                 if (y >= 0 && y < w.height && x >= 0 && x < w.width)
                   body({i[0], y, x}, i.take_front(3), i.take_back(2));
               });
}

Index join(ArrayRef<int64_t> index, int64_t last) {
  Index result(index);
  result.push_back(last);
  return result;
}

/// Calls with an element each of images, filters and positions whose product
/// is part of a convolution.
template <typename OpTy, typename X, typename W, typename Y>
void forEachProduct(
    OpTy op, X &images, W &filters, Y &positions,
    function_ref<void(decltype(images.data[0]) x, decltype(filters.data[0]) w,
                      decltype(positions.data[0]) y)>
        body) {
  int64_t count = filters.shape[0], own = filters.shape[3];
  int64_t perGroup = count / (images.shape[3] / own);
  forEachTap(op.getWindow(),
             [&](ArrayRef<int64_t> pixel, ArrayRef<int64_t> position,
                 ArrayRef<int64_t> tap) {
               for (int64_t f = 0; f < count; ++f)
                 for (int64_t c = 0; c < own; ++c)
                   body(at(images, join(pixel, f / perGroup * own + c)),
                        at(filters, {f, tap[0], tap[1], c}),
                        at(positions, join(position, f)));
             });
}

Tensors evaluate(Conv2DOp op, Operands operands) {
  HostTensor result = makeResult(op);
  forEachProduct(op, *operands[0], *operands[1], result,
                 [](double x, double w, double &y) { y += x * w; });
  return {result};
}

Tensors evaluate(Conv2DInputGradOp op, Operands operands) {
  HostTensor result = makeResult(op);
  forEachProduct(op, result, *operands[1], *operands[0],
                 [](double &x, double w, double y) { x += y * w; });
  return {result};
}

Tensors evaluate(Conv2DFilterGradOp op, Operands operands) {
  HostTensor result = makeResult(op);
  forEachProduct(op, *operands[0], result, *operands[1],
                 [](double x, double &w, double y) { w += x * y; });
  return {result};
}

/// The same for each channel of an image and of the positions.
template <typename OpTy>
void forEachPooled(OpTy op, int64_t channels,
                   function_ref<void(Index pixel, Index position)> body) {
  forEachTap(op.getWindow(),
             [&](ArrayRef<int64_t> pixel, ArrayRef<int64_t> position,
                 ArrayRef<int64_t>) {
               for (int64_t c = 0; c < channels; ++c)
                 body(join(pixel, c), join(position, c));
             });
}

Tensors evaluate(SumPool2DOp op, Operands operands) {
  HostTensor result = makeResult(op);
  forEachPooled(op, result.shape[3], [&](Index pixel, Index position) {
    at(result, position) += at(*operands[0], pixel);
  });
  return {result};
}

Tensors evaluate(SumPool2DGradOp op, Operands operands) {
  HostTensor result = makeResult(op);
  forEachPooled(op, result.shape[3], [&](Index pixel, Index position) {
    at(result, pixel) += at(*operands[0], position);
  });
  return {result};
}

Tensors evaluate(MaxPool2DOp op, Operands operands) {
  HostTensor result = makeResult(op);
  llvm::fill(result.data, -INFINITY);
  forEachPooled(op, result.shape[3], [&](Index pixel, Index position) {
    double &max = at(result, position);
    max = std::max(max, at(*operands[0], pixel));
  });
  return {result};
}

Tensors evaluate(MaxPool2DGradOp op, Operands operands) {
  HostTensor result = makeResult(op);
  const HostTensor &x = *operands[0], &dy = *operands[1];
  // The first tap of the largest, for each position.
  std::vector<Index> best(dy.size());
  auto bestOf = [&](ArrayRef<int64_t> p) -> Index & {
    return best[((p[0] * dy.shape[1] + p[1]) * dy.shape[2] + p[2]) *
                    dy.shape[3] +
                p[3]];
  };
  forEachPooled(op, result.shape[3], [&](Index pixel, Index position) {
    Index &found = bestOf(position);
    if (found.empty() || at(x, pixel) > at(x, found))
      found = pixel;
  });
  forEachIndex(dy.shape, [&](ArrayRef<int64_t> position) {
    at(result, bestOf(position)) += at(dy, position);
  });
  return {result};
}

/// As in an evaluation: by the moving averages.
Tensors evaluate(BatchNormOp op, Operands operands) {
  HostTensor result = makeResult(op);
  double epsilon = op.getEpsilon().convertToDouble();
  forEachIndex(result.shape, [&](ArrayRef<int64_t> index) {
    ArrayRef<int64_t> c = index.take_back();
    at(result, index) = (at(*operands[0], index) - at(*operands[3], c)) /
                            std::sqrt(at(*operands[4], c) + epsilon) *
                            at(*operands[1], c) +
                        at(*operands[2], c);
  });
  return {result};
}

//===----------------------------------------------------------------------===//
// Losses and updates
//===----------------------------------------------------------------------===//

Tensors evaluate(CrossEntropyOp op, Operands operands) {
  HostTensor result = makeResult(op);
  forEachRow(*operands[0], [&](int64_t row, ArrayRef<double> logits) {
    int64_t label = operands[1]->data[row];
    if (op.getIgnoreIndex() != label)
      result.data[0] += logSumExp(logits) - logits[label];
  });
  return {result};
}

Tensors evaluate(CrossEntropyGradOp op, Operands operands) {
  HostTensor result = makeResult(op);
  forEachRow(*operands[0], [&](int64_t row, ArrayRef<double> logits) {
    int64_t label = operands[1]->data[row], width = logits.size();
    if (op.getIgnoreIndex() == label)
      return;
    double total = logSumExp(logits), scale = operands[2]->data[0];
    for (int64_t c = 0; c < width; ++c)
      result.data[row * width + c] =
          scale * (std::exp(logits[c] - total) - (c == label));
  });
  return {result};
}

Tensors evaluate(CountLabelsOp op, Operands operands) {
  HostTensor result = makeResult(op);
  for (double label : operands[0]->data)
    result.data[0] += label != int64_t(op.getIgnoreIndex());
  return {result};
}

Tensors evaluate(SquaredErrorOp op, Operands operands) {
  HostTensor result = makeResult(op);
  for (auto [p, t] : llvm::zip(operands[0]->data, operands[1]->data))
    result.data[0] += (p - t) * (p - t);
  return {result};
}

Tensors evaluate(SumSquaresOp op, Operands operands) {
  HostTensor result = makeResult(op);
  for (double x : operands[0]->data)
    result.data[0] += x * x;
  return {result};
}

Tensors evaluate(SgdOp op, Operands operands) {
  double lr = operands[2]->data[0];
  double decay = op.getWeightDecay().convertToDouble();
  double momentum = op.getMomentum().convertToDouble();
  bool hasState = !op.getState().empty();
  Tensors results(1 + hasState, *operands[0]);
  for (int64_t i = 0; i < operands[0]->size(); ++i) {
    double &p = results[0].data[i];
    double d = operands[1]->data[i] + decay * p;
    if (hasState) {
      double b = momentum * operands[3]->data[i] + d;
      results[1].data[i] = b;
      d = op.getNesterov() ? d + momentum * b : b;
    }
    p -= lr * d;
  }
  return results;
}

Tensors evaluate(AdamOp op, Operands operands) {
  double lr = operands[2]->data[0], step = operands[3]->data[0];
  double beta1 = op.getBeta1().convertToDouble();
  double beta2 = op.getBeta2().convertToDouble();
  double decay = op.getWeightDecay().convertToDouble();
  double epsilon = op.getEpsilon().convertToDouble();
  Tensors results = {*operands[0], *operands[4], *operands[5]};
  for (int64_t i = 0; i < operands[0]->size(); ++i) {
    double &p = results[0].data[i], &m = results[1].data[i];
    double &v = results[2].data[i], g = operands[1]->data[i];
    if (op.getDecoupled())
      p *= 1 - lr * decay;
    else
      g += decay * p;
    m = beta1 * m + (1 - beta1) * g;
    v = beta2 * v + (1 - beta2) * g * g;
    p -= lr / (1 - std::pow(beta1, step)) * m /
         (std::sqrt(v / (1 - std::pow(beta2, step))) + epsilon);
  }
  return results;
}

Tensors evaluateOp(Operation *operation, Operands operands) {
  if (auto function = getFunction(operation))
    return evaluateElementwise(operation, operands, function);
  return TypeSwitch<Operation *, Tensors>(operation)
      .Case<ConstantOp, ReshapeOp, TransposeOp, SliceOp, PadOp, SplitOp,
            ConcatOp, ReduceSumOp, ReduceMaxOp, SoftmaxOp, LogSoftmaxOp,
            LayerNormOp, MatMulOp, GatherOp, ScatterAddOp, OneHotOp, Conv2DOp,
            Conv2DInputGradOp, Conv2DFilterGradOp, MaxPool2DOp, MaxPool2DGradOp,
            SumPool2DOp, SumPool2DGradOp, BatchNormOp, CrossEntropyOp,
            CrossEntropyGradOp, CountLabelsOp, SquaredErrorOp, SumSquaresOp,
            SgdOp, AdamOp>([&](auto op) { return evaluate(op, operands); })
      .Default([](Operation *op) -> Tensors {
        llvm::report_fatal_error(Twine("interpreter does not know ") +
                                 op->getName().getStringRef());
      });
}

} // namespace

std::vector<HostTensor> interpret(func::FuncOp func,
                                  const std::vector<HostTensor> &arguments) {
  DenseMap<Value, HostTensor> values;
  for (auto [argument, tensor] :
       llvm::zip_equal(func.getArguments(), arguments))
    values.try_emplace(argument, tensor);
  auto getTensors = [&](ValueRange range) {
    return llvm::map_to_vector(range, [&](Value value) -> const HostTensor * {
      return &values.find(value)->second;
    });
  };
  for (Operation &op : func.front().without_terminator()) {
    Tensors results = evaluateOp(&op, getTensors(op.getOperands()));
    for (auto [result, tensor] : llvm::zip_equal(op.getResults(), results))
      values.try_emplace(result, std::move(tensor));
  }
  Tensors results;
  for (const HostTensor *tensor :
       getTensors(func.front().getTerminator()->getOperands()))
    results.push_back(*tensor);
  return results;
}

} // namespace dtc
