//===- ReferenceInterpreter.cpp - dtc ops, element by element -------------===//
//
// Written from the definitions in the dialect, not from their lowering.
//
//===----------------------------------------------------------------------===//

#include "ReferenceInterpreter.h"
#include "dtc/Dialect/Dialect.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace dtc;

using Tensor = ReferenceTensor;
using Tensors = std::vector<Tensor>;
using Index = std::vector<int64_t>;

Tensor Tensor::zeros(ArrayRef<int64_t> shape) {
  int64_t size = 1;
  for (int64_t n : shape)
    size *= n;
  return {shape.vec(), std::vector<double>(size)};
}

static Index unflatten(int64_t flat, ArrayRef<int64_t> shape) {
  Index index(shape.size());
  for (size_t d = shape.size(); d-- > 0; flat /= shape[d])
    index[d] = flat % shape[d];
  return index;
}

/// The element at an index that is aligned at the end; sizes of 1 repeat.
static double &at(const Tensor &t, const Index &index) {
  int64_t flat = 0;
  size_t skipped = index.size() - t.shape.size();
  for (size_t d = 0; d < t.shape.size(); ++d)
    flat = flat * t.shape[d] + (t.shape[d] == 1 ? 0 : index[skipped + d]);
  return const_cast<double &>(t.data[flat]);
}

static ArrayRef<int64_t> getShape(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

/// Calls back for every index of a shape.
template <typename Function>
static void forEach(ArrayRef<int64_t> shape, Function function) {
  int64_t size = 1;
  for (int64_t n : shape)
    size *= n;
  for (int64_t i = 0; i < size; ++i)
    function(unflatten(i, shape));
}

template <typename Function>
static Tensors map(Operation *op, const Tensors &x, Function function) {
  Tensor y = Tensor::zeros(getShape(op->getResult(0)));
  forEach(y.shape, [&](const Index &i) {
    std::vector<double> v;
    for (const Tensor &t : x)
      v.push_back(at(t, i));
    at(y, i) = function(v);
  });
  return {y};
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

using Elements = const std::vector<double> &;

static Tensors runCompare(CompareOp op, const Tensors &x) {
  return map(op, x, [&](Elements v) -> double {
    switch (op.getPredicate()) {
    case Comparison::eq:
      return v[0] == v[1];
    case Comparison::ne:
      return v[0] != v[1];
    case Comparison::lt:
      return v[0] < v[1];
    case Comparison::le:
      return v[0] <= v[1];
    case Comparison::gt:
      return v[0] > v[1];
    case Comparison::ge:
      return v[0] >= v[1];
    }
    return NAN;
  });
}

static Tensors runCast(CastOp op, const Tensors &x) {
  Type to = getElementTypeOrSelf(op.getY());
  return map(op, x, [&](Elements v) -> double {
    if (to.isInteger(1))
      return v[0] != 0;
    if (isa<IntegerType>(to))
      return std::trunc(v[0]);
    return to.isF32() ? double(float(v[0])) : v[0];
  });
}

static std::optional<Tensors> runElementwise(Operation *op, const Tensors &x) {
  double (*f)(Elements) =
      llvm::TypeSwitch<Operation *, double (*)(Elements)>(op)
          .Case([](NegOp) { return [](Elements v) { return -v[0]; }; })
          .Case([](AbsOp) { return [](Elements v) { return std::abs(v[0]); }; })
          .Case([](ExpOp) { return [](Elements v) { return std::exp(v[0]); }; })
          .Case([](LogOp) { return [](Elements v) { return std::log(v[0]); }; })
          .Case([](SqrtOp) {
            return [](Elements v) { return std::sqrt(v[0]); };
          })
          .Case([](ReciprocalOp) {
            return [](Elements v) { return 1 / v[0]; };
          })
          .Case([](TanhOp) {
            return [](Elements v) { return std::tanh(v[0]); };
          })
          .Case([](ErfOp) { return [](Elements v) { return std::erf(v[0]); }; })
          .Case([](SigmoidOp) {
            return [](Elements v) { return 1 / (1 + std::exp(-v[0])); };
          })
          .Case([](SinOp) { return [](Elements v) { return std::sin(v[0]); }; })
          .Case([](CosOp) { return [](Elements v) { return std::cos(v[0]); }; })
          .Case([](AtanOp) {
            return [](Elements v) { return std::atan(v[0]); };
          })
          .Case([](FloorOp) {
            return [](Elements v) { return std::floor(v[0]); };
          })
          .Case([](ReluOp) {
            return [](Elements v) { return v[0] < 0 ? 0 : v[0]; };
          })
          .Case([](AddOp) { return [](Elements v) { return v[0] + v[1]; }; })
          .Case([](AccumulateOp) {
            return [](Elements v) { return v[0] + v[1]; };
          })
          .Case([](SubOp) { return [](Elements v) { return v[0] - v[1]; }; })
          .Case([](MulOp) { return [](Elements v) { return v[0] * v[1]; }; })
          .Case([](DivOp) { return [](Elements v) { return v[0] / v[1]; }; })
          .Case([](PowOp) {
            return [](Elements v) { return std::pow(v[0], v[1]); };
          })
          .Case([](MaximumOp) {
            return [](Elements v) { return std::max(v[0], v[1]); };
          })
          .Case([](MinimumOp) {
            return [](Elements v) { return std::min(v[0], v[1]); };
          })
          .Case([](LogicalAndOp) {
            return [](Elements v) { return double(v[0] && v[1]); };
          })
          .Case([](LogicalOrOp) {
            return [](Elements v) { return double(v[0] || v[1]); };
          })
          .Case([](LogicalNotOp) {
            return [](Elements v) { return double(!v[0]); };
          })
          .Case([](SelectOp) {
            return [](Elements v) { return v[0] ? v[1] : v[2]; };
          })
          .Case([](BroadcastOp) { return [](Elements v) { return v[0]; }; })
          .Default([](Operation *) { return nullptr; });
  if (!f)
    return std::nullopt;
  return map(op, x, f);
}

//===----------------------------------------------------------------------===//
// Shape, lookups
//===----------------------------------------------------------------------===//

static Tensors runConstant(ConstantOp op) {
  Tensor y = Tensor::zeros(getShape(op.getResult()));
  auto elements = cast<DenseElementsAttr>(op.getValue());
  size_t i = 0;
  if (isa<FloatType>(elements.getElementType()))
    for (const APFloat &v : elements.getValues<APFloat>())
      y.data[i++] = v.convertToDouble();
  else
    for (const APInt &v : elements.getValues<APInt>())
      y.data[i++] = v.getBitWidth() == 1 ? v.getZExtValue() : v.getSExtValue();
  return {y};
}

static Tensors runTranspose(TransposeOp op, const Tensors &x) {
  Tensor y = Tensor::zeros(getShape(op.getY()));
  forEach(y.shape, [&](const Index &i) {
    Index from(i.size());
    for (size_t d = 0; d < i.size(); ++d)
      from[op.getPermutation()[d]] = i[d];
    at(y, i) = at(x[0], from);
  });
  return {y};
}

static Tensor extract(const Tensor &x, ArrayRef<int64_t> shape, int64_t axis,
                      int64_t start) {
  Tensor y = Tensor::zeros(shape);
  forEach(shape, [&](Index i) {
    double &to = at(y, i);
    i[axis] += start;
    to = at(x, i);
  });
  return y;
}

static void insert(Tensor &y, const Tensor &x, int64_t axis, int64_t start) {
  forEach(x.shape, [&](Index i) {
    double value = at(x, i);
    i[axis] += start;
    at(y, i) = value;
  });
}

static Tensors runSplit(SplitOp op, const Tensors &x) {
  Tensors parts;
  int64_t start = 0;
  for (Value part : op.getParts()) {
    parts.push_back(extract(x[0], getShape(part), op.getAxis(), start));
    start += getShape(part)[op.getAxis()];
  }
  return parts;
}

static Tensors runConcat(ConcatOp op, const Tensors &x) {
  Tensor y = Tensor::zeros(getShape(op.getY()));
  int64_t start = 0;
  for (const Tensor &part : x) {
    insert(y, part, op.getAxis(), start);
    start += part.shape[op.getAxis()];
  }
  return {y};
}

/// Where in a table the element `i` of its looked-up rows is.
static size_t findEntry(ArrayRef<int64_t> table, const Tensor &indices,
                        size_t batchDims, size_t i) {
  size_t batches = 1, row = 1;
  for (size_t d = 0; d < table.size(); ++d)
    if (d != batchDims)
      (d < batchDims ? batches : row) *= table[d];
  size_t perBatch = indices.data.size() / batches;
  size_t batch = i / row / perBatch;
  return (batch * table[batchDims] + size_t(indices.data[i / row])) * row +
         i % row;
}

static Tensors runGather(GatherOp op, const Tensors &x) {
  Tensor y = Tensor::zeros(getShape(op.getResult()));
  for (size_t i = 0; i < y.data.size(); ++i)
    y.data[i] = x[0].data[findEntry(x[0].shape, x[1], op.getBatchDims(), i)];
  return {y};
}

static Tensors runScatterAdd(ScatterAddOp op, const Tensors &x) {
  Tensor y = Tensor::zeros(getShape(op.getResult()));
  for (size_t i = 0; i < x[1].data.size(); ++i)
    y.data[findEntry(y.shape, x[0], op.getBatchDims(), i)] += x[1].data[i];
  return {y};
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

template <typename OpType>
static Tensors runReduce(OpType op, const Tensors &x, double start,
                         double (*f)(double, double)) {
  Tensor y = Tensor::zeros(getShape(op.getY()));
  llvm::fill(y.data, start);
  forEach(x[0].shape, [&](const Index &i) {
    Index to = i;
    for (int64_t axis : op.getAxes())
      to[axis] = 0;
    at(y, to) = f(at(y, to), at(x[0], i));
  });
  return {y};
}

/// Rows of the last dimension.
struct Rows {
  explicit Rows(const Tensor &x)
      : size(x.shape.empty() ? 1 : x.shape.back()),
        count(x.data.size() / size) {}
  size_t size, count;
};

static double getLogSum(const double *x, size_t size) {
  double max = *std::max_element(x, x + size), sum = 0;
  for (size_t j = 0; j < size; ++j)
    sum += std::exp(x[j] - max);
  return max + std::log(sum);
}

static Tensors runSoftmax(const Tensors &x, bool isLog) {
  Tensor y = x[0];
  Rows rows(y);
  for (size_t r = 0; r < rows.count; ++r) {
    double *row = y.data.data() + r * rows.size;
    double logSum = getLogSum(row, rows.size);
    for (size_t j = 0; j < rows.size; ++j)
      row[j] = isLog ? row[j] - logSum : std::exp(row[j] - logSum);
  }
  return {y};
}

static Tensors runLayerNorm(LayerNormOp op, const Tensors &x) {
  Tensor y = x[0], mean = Tensor::zeros(getShape(op.getMean())), rstd = mean;
  Rows rows(y);
  double n = double(rows.size);
  for (size_t r = 0; r < rows.count; ++r) {
    double *row = y.data.data() + r * rows.size;
    double sum = 0, squares = 0;
    for (size_t j = 0; j < rows.size; ++j)
      sum += row[j];
    mean.data[r] = sum / n;
    for (size_t j = 0; j < rows.size; ++j)
      squares += (row[j] - mean.data[r]) * (row[j] - mean.data[r]);
    rstd.data[r] =
        1 / std::sqrt(squares / n + op.getEpsilon().convertToDouble());
    for (size_t j = 0; j < rows.size; ++j)
      row[j] = (row[j] - mean.data[r]) * rstd.data[r] * x[1].data[j] +
               x[2].data[j];
  }
  return {y, mean, rstd};
}

static bool isIgnored(std::optional<uint64_t> index, double label) {
  return index && double(int64_t(*index)) == label;
}

static Tensors runCrossEntropy(CrossEntropyOp op, const Tensors &x) {
  Tensor loss = Tensor::zeros({});
  Rows rows(x[0]);
  for (size_t r = 0; r < rows.count; ++r) {
    const double *row = x[0].data.data() + r * rows.size;
    double label = x[1].data[r];
    if (!isIgnored(op.getIgnoreIndex(), label))
      loss.data[0] += getLogSum(row, op.getClasses().value_or(rows.size)) -
                      row[size_t(label)];
  }
  return {loss};
}

static Tensors runCrossEntropyGrad(CrossEntropyGradOp op, const Tensors &x) {
  Tensor y = x[0];
  Rows rows(y);
  size_t classes = op.getClasses().value_or(rows.size);
  for (size_t r = 0; r < rows.count; ++r) {
    double label = x[1].data[r];
    bool ignored = isIgnored(op.getIgnoreIndex(), label);
    double *row = y.data.data() + r * rows.size;
    double logSum = getLogSum(row, classes);
    for (size_t j = 0; j < rows.size; ++j) {
      bool counts = !ignored && j < classes;
      row[j] = counts ? (std::exp(row[j] - logSum) - (double(j) == label)) *
                            x[2].data[0]
                      : 0;
    }
  }
  return {y};
}

static Tensors sum(const Tensors &x, double (*f)(Elements)) {
  Tensor y = Tensor::zeros({});
  for (size_t i = 0; i < x[0].data.size(); ++i) {
    std::vector<double> v;
    for (const Tensor &t : x)
      v.push_back(t.data[i]);
    y.data[0] += f(v);
  }
  return {y};
}

//===----------------------------------------------------------------------===//
// Updates
//===----------------------------------------------------------------------===//

static Tensors runSgd(SgdOp op, const Tensors &x) {
  Tensors y = {x[0]};
  double momentum = op.getMomentum().convertToDouble();
  double decay = op.getWeightDecay().convertToDouble();
  if (x.size() > 3)
    y.push_back(x[3]);
  for (size_t i = 0; i < x[0].data.size(); ++i) {
    double d = x[1].data[i] + decay * x[0].data[i];
    if (x.size() > 3) {
      double buffer = momentum * x[3].data[i] + d;
      y[1].data[i] = buffer;
      d = op.getNesterov() ? d + momentum * buffer : buffer;
    }
    y[0].data[i] -= x[2].data[0] * d;
  }
  return y;
}

static Tensors runAdam(AdamOp op, const Tensors &x) {
  Tensors y = {x[0], x[4], x[5]};
  double beta1 = op.getBeta1().convertToDouble();
  double beta2 = op.getBeta2().convertToDouble();
  double decay = op.getWeightDecay().convertToDouble();
  double lr = x[2].data[0], step = x[3].data[0];
  for (size_t i = 0; i < x[0].data.size(); ++i) {
    double p = x[0].data[i], g = x[1].data[i];
    if (op.getDecoupled())
      p *= 1 - lr * decay;
    else
      g += decay * p;
    double m = y[1].data[i] = beta1 * y[1].data[i] + (1 - beta1) * g;
    double v = y[2].data[i] = beta2 * y[2].data[i] + (1 - beta2) * g * g;
    double root = std::sqrt(v / (1 - std::pow(beta2, step)));
    y[0].data[i] = p - lr / (1 - std::pow(beta1, step)) * m /
                           (root + op.getEpsilon().convertToDouble());
  }
  return y;
}

static double average(double keep, double old, double fresh) {
  return keep * old + (1 - keep) * fresh;
}

static Tensors runAdamDirection(AdamDirectionOp op, const Tensors &x) {
  Tensors y = {x[0], x[3], x[4]};
  double beta1 = op.getBeta1().convertToDouble();
  double beta2 = op.getBeta2().convertToDouble();
  double decay = op.getWeightDecay().convertToDouble(), step = x[2].data[0];
  for (size_t i = 0; i < x[0].data.size(); ++i) {
    double g = x[1].data[i];
    double m = y[1].data[i] = average(beta1, x[3].data[i], g);
    double v = y[2].data[i] = average(beta2, x[4].data[i], g * g);
    double root = std::sqrt(v / (1 - std::pow(beta2, step)));
    y[0].data[i] = m / (1 - std::pow(beta1, step)) /
                       (root + op.getEpsilon().convertToDouble()) +
                   decay * x[0].data[i];
  }
  return y;
}

static Tensors runRmsProp(RmsPropOp op, const Tensors &x) {
  Tensors y = {x[0]};
  y.insert(y.end(), x.begin() + 3, x.end());
  double momentum = op.getMomentum().convertToDouble();
  for (size_t i = 0; i < x[0].data.size(); ++i) {
    double g = x[1].data[i] +
               op.getWeightDecay().convertToDouble() * x[0].data[i];
    double v = y[1].data[i] =
        average(op.getAlpha().convertToDouble(), x[3].data[i], g * g);
    double d = g / (std::sqrt(v) + op.getEpsilon().convertToDouble());
    if (x.size() > 4)
      d = y[2].data[i] = momentum * x[4].data[i] + d;
    y[0].data[i] -= x[2].data[0] * d;
  }
  return y;
}

static Tensors runAdagrad(AdagradOp op, const Tensors &x) {
  Tensors y = {x[0], x[3]};
  for (size_t i = 0; i < x[0].data.size(); ++i) {
    double g = x[1].data[i] +
               op.getWeightDecay().convertToDouble() * x[0].data[i];
    y[1].data[i] += g * g;
    y[0].data[i] -= x[2].data[0] * g / (std::sqrt(y[1].data[i]) +
                                        op.getEpsilon().convertToDouble());
  }
  return y;
}

static Tensors runLion(LionOp op, const Tensors &x) {
  Tensors y = {x[0], x[3]};
  for (size_t i = 0; i < x[0].data.size(); ++i) {
    double p = x[0].data[i], g = x[1].data[i], m = x[3].data[i];
    double mixed = average(op.getBeta1().convertToDouble(), m, g);
    double sign = mixed > 0 ? 1 : mixed < 0 ? -1 : 0;
    y[0].data[i] =
        p - x[2].data[0] * (sign + op.getWeightDecay().convertToDouble() * p);
    y[1].data[i] = average(op.getBeta2().convertToDouble(), m, g);
  }
  return y;
}

static Tensors runClipByNorm(ClipByNormOp op, const Tensors &x) {
  Tensors y = {x[0]};
  double ratio = op.getMaxNorm().convertToDouble() / (x[1].data[0] + 1e-6);
  for (double &g : y[0].data)
    g *= std::min(1.0, ratio);
  return y;
}

static Tensors runAverage(AverageOp op, const Tensors &x) {
  Tensors y = {x[0]};
  for (size_t i = 0; i < x[0].data.size(); ++i)
    y[0].data[i] =
        average(op.getDecay().convertToDouble(), x[0].data[i], x[1].data[i]);
  return y;
}

static Tensors run(Operation *op, const Tensors &x) {
  if (std::optional<Tensors> y = runElementwise(op, x))
    return *y;
  return llvm::TypeSwitch<Operation *, Tensors>(op)
      .Case([&](CompareOp o) { return runCompare(o, x); })
      .Case([&](CastOp o) { return runCast(o, x); })
      .Case([&](ConstantOp o) { return runConstant(o); })
      .Case([&](TransposeOp o) { return runTranspose(o, x); })
      .Case([&](SliceOp o) -> Tensors {
        return {extract(x[0], getShape(o.getY()), o.getAxis(), o.getStart())};
      })
      .Case([&](PadOp o) -> Tensors {
        Tensor y = Tensor::zeros(getShape(o.getY()));
        insert(y, x[0], o.getAxis(), o.getStart());
        return {y};
      })
      .Case([&](SplitOp o) { return runSplit(o, x); })
      .Case([&](ConcatOp o) { return runConcat(o, x); })
      .Case([&](GatherOp o) { return runGather(o, x); })
      .Case([&](ScatterAddOp o) { return runScatterAdd(o, x); })
      .Case([&](ReduceSumOp o) {
        return runReduce(o, x, 0, [](double a, double b) { return a + b; });
      })
      .Case([&](ReduceMaxOp o) {
        return runReduce(o, x, -INFINITY,
                         [](double a, double b) { return std::max(a, b); });
      })
      .Case([&](SoftmaxOp) { return runSoftmax(x, false); })
      .Case([&](LogSoftmaxOp) { return runSoftmax(x, true); })
      .Case([&](LayerNormOp o) { return runLayerNorm(o, x); })
      .Case([&](CrossEntropyOp o) { return runCrossEntropy(o, x); })
      .Case([&](CrossEntropyGradOp o) { return runCrossEntropyGrad(o, x); })
      .Case([&](CountLabelsOp o) -> Tensors {
        Tensor y = Tensor::zeros({});
        for (double label : x[0].data)
          y.data[0] += !isIgnored(o.getIgnoreIndex(), label);
        return {y};
      })
      .Case([&](SquaredErrorOp) {
        return sum(x, [](Elements v) { return (v[0] - v[1]) * (v[0] - v[1]); });
      })
      .Case([&](SumSquaresOp) {
        return sum(x, [](Elements v) { return v[0] * v[0]; });
      })
      .Case([&](SgdOp o) { return runSgd(o, x); })
      .Case([&](AdamOp o) { return runAdam(o, x); })
      .Case([&](AdamDirectionOp o) { return runAdamDirection(o, x); })
      .Case([&](RmsPropOp o) { return runRmsProp(o, x); })
      .Case([&](AdagradOp o) { return runAdagrad(o, x); })
      .Case([&](LionOp o) { return runLion(o, x); })
      .Case([&](ClipByNormOp o) { return runClipByNorm(o, x); })
      .Case([&](AverageOp o) { return runAverage(o, x); })
      .Default([](Operation *o) -> Tensors {
        llvm::report_fatal_error(Twine("no reference for ") +
                                 o->getName().getStringRef());
      });
}

Tensors dtc::interpret(func::FuncOp function, const Tensors &arguments) {
  DenseMap<Value, Tensor> values;
  for (auto [value, tensor] : llvm::zip(function.getArguments(), arguments))
    values[value] = tensor;
  auto getValues = [&](ValueRange range) {
    Tensors tensors;
    for (Value value : range)
      tensors.push_back(values[value]);
    return tensors;
  };
  for (Operation &op : function.front().without_terminator()) {
    Tensors results = run(&op, getValues(op.getOperands()));
    for (auto [value, tensor] : llvm::zip(op.getResults(), results))
      values[value] = tensor;
  }
  return getValues(function.front().getTerminator()->getOperands());
}
