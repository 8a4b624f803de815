//===- ComposedLosses.cpp - losses and counts of right answers ------------===//
//
// Sums use double precision, as in the ops of other losses.
//
//===----------------------------------------------------------------------===//

#include "dtc/Strategy/ComposedLosses.h"
#include "BatchCount.h"

using namespace mlir;
using namespace dtc;

static RankedTensorType getType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// Builds a tensor of a floating-point type; a scalar if all values are equal.
static Value createConstant(ImplicitLocOpBuilder &b, Type element,
                            ArrayRef<double> values) {
  bool isSplat = llvm::all_equal(values);
  if (isSplat)
    values = values.take_front();
  SmallVector<Attribute> numbers =
      llvm::map_to_vector(values, [&](double value) -> Attribute {
        return b.getFloatAttr(element, value);
      });
  auto type = isSplat ? RankedTensorType::get({}, element)
                      : RankedTensorType::get(int64_t(values.size()), element);
  return ConstantOp::create(b, type, DenseElementsAttr::get(type, numbers));
}

/// The sum of all elements, in double precision.
static Value createTotal(ImplicitLocOpBuilder &b, Value x) {
  RankedTensorType type = getType(x);
  Type f64 = b.getF64Type();
  if (type.getElementType() != f64)
    x = CastOp::create(b, type.clone(f64), x);
  Value sum = ReduceSumOp::create(
      b, x, llvm::to_vector(llvm::seq<int64_t>(0, type.getRank())));
  return ReshapeOp::create(b, RankedTensorType::get({}, f64), sum);
}

static Value createNumber(ImplicitLocOpBuilder &b, double value) {
  return createConstant(b, b.getF64Type(), {value});
}

/// The number of true elements.
static Value createNumTrue(ImplicitLocOpBuilder &b, Value x) {
  return createTotal(
      b, SelectOp::create(b, x, createNumber(b, 1), createNumber(b, 0)));
}

/// Whether each label [...] counts, as [..., 1].
static Value createIsCounted(ImplicitLocOpBuilder &b, Value labels,
                             int64_t ignored) {
  RankedTensorType type = getType(labels);
  SmallVector<int64_t> shape(type.getShape());
  shape.push_back(1);
  Type element = type.getElementType();
  auto scalar = RankedTensorType::get({}, element);
  Value number = ConstantOp::create(
      b, scalar,
      DenseElementsAttr::get(scalar, b.getIntegerAttr(element, ignored)));
  Value column =
      ReshapeOp::create(b, RankedTensorType::get(shape, element), labels);
  return CompareOp::create(b, Comparison::ne, column, number);
}

LossSum dtc::buildCrossEntropy(ImplicitLocOpBuilder &b, Value logits,
                               Value labels, std::optional<int64_t> ignored,
                               int64_t replicas) {
  RankedTensorType scalar = RankedTensorType::get({}, b.getF64Type());
  LossSum result;
  result.sum = CrossEntropyOp::create(b, scalar, logits, labels,
                                      ignored ? b.getI64IntegerAttr(*ignored)
                                              : IntegerAttr(),
                                      /*classes=*/IntegerAttr());
  result.count =
      ignored ? Value(CountLabelsOp::create(b, scalar, labels, *ignored))
              : createBatchCount(b, getType(labels).getNumElements(), replicas);
  return result;
}

LossSum dtc::buildWeightedCrossEntropy(ImplicitLocOpBuilder &b, Value logits,
                                       Value labels,
                                       const ClassOptions &options,
                                       int64_t replicas) {
  RankedTensorType type = getType(logits);
  Type element = type.getElementType();
  int64_t classes = type.getShape().back();
  SmallVector<double> weights(options.weights);
  if (weights.empty())
    weights.assign(classes, 1.0);
  // The label has 1 - smoothing of a row's mass and its even share of the rest.
  double share = options.smoothing / double(classes);
  SmallVector<double> own, other;
  for (double weight : weights) {
    own.push_back(weight * (1 - options.smoothing + share));
    other.push_back(weight * share);
  }
  Value isLabel =
      OneHotOp::create(b, type.clone(b.getI1Type()), labels, Value());
  Value isCounted;
  if (options.ignored)
    isCounted = createIsCounted(b, labels, *options.ignored);
  auto choose = [&](Type element, ArrayRef<double> own,
                    ArrayRef<double> other) -> Value {
    Value mass = SelectOp::create(b, isLabel, createConstant(b, element, own),
                                  createConstant(b, element, other));
    if (!isCounted)
      return mass;
    return SelectOp::create(b, isCounted, mass,
                            createConstant(b, element, {0.0}));
  };

  LossSum result;
  Value likelihoods = MulOp::create(b, choose(element, own, other),
                                    LogSoftmaxOp::create(b, logits));
  result.sum = NegOp::create(b, createTotal(b, likelihoods));
  RankedTensorType scalar = RankedTensorType::get({}, b.getF64Type());
  if (!options.weights.empty())
    result.count = createTotal(b, choose(b.getF64Type(), weights, {0.0}));
  else if (options.ignored)
    result.count = CountLabelsOp::create(b, scalar, labels, *options.ignored);
  else
    result.count =
        createBatchCount(b, getType(labels).getNumElements(), replicas);
  return result;
}

/// log(1 + exp(x)) - x t. The logarithm is m + log(exp(-m) + exp(x - m)) for m
/// = max(x, 0). Its gradient by m is zero for every m, so the gradient by x is
/// right at 0 too, where max has none.
LossSum dtc::buildBinaryCrossEntropy(ImplicitLocOpBuilder &b, Value logits,
                                     Value targets, int64_t replicas) {
  Value m = ReluOp::create(b, logits);
  Value sum = AddOp::create(b, ExpOp::create(b, NegOp::create(b, m)),
                            ExpOp::create(b, SubOp::create(b, logits, m)));
  Value softplus = AddOp::create(b, m, LogOp::create(b, sum));
  Value loss = AddOp::create(
      b, softplus, MulOp::create(b, NegOp::create(b, logits), targets));
  return {createTotal(b, loss),
          createBatchCount(b, getType(logits).getNumElements(), replicas)};
}

LossSum dtc::buildSquaredError(ImplicitLocOpBuilder &b, Value prediction,
                               Value target, int64_t replicas) {
  Value sum = SquaredErrorOp::create(
      b, RankedTensorType::get({}, b.getF64Type()), prediction, target);
  return {sum,
          createBatchCount(b, getType(prediction).getNumElements(), replicas)};
}

LossSum dtc::buildElementSum(ImplicitLocOpBuilder &b, Value x,
                             int64_t replicas) {
  RankedTensorType type = getType(x);
  Type f64 = b.getF64Type();
  if (type.getNumElements() != 1)
    return {createTotal(b, x),
            createBatchCount(b, type.getNumElements(), replicas)};
  if (type.getElementType() != f64)
    x = CastOp::create(b, type.clone(f64), x);
  if (type.getRank() != 0)
    x = ReshapeOp::create(b, RankedTensorType::get({}, f64), x);
  return {x, Value()};
}

/// The number of true rows [..., C] for each of the C columns: tensor<Cxf64>.
static Value createNumTrueByColumn(ImplicitLocOpBuilder &b, Value x) {
  int64_t columns = getType(x).getShape().back();
  Value ones = SelectOp::create(b, x, createNumber(b, 1), createNumber(b, 0));
  Value sum = ReduceSumOp::create(
      b, ones,
      llvm::to_vector(llvm::seq<int64_t>(0, getType(x).getRank() - 1)));
  return ReshapeOp::create(b, RankedTensorType::get(columns, b.getF64Type()),
                           sum);
}

ClassCounts dtc::countClasses(ImplicitLocOpBuilder &b, Value logits,
                              Value labels, std::optional<int64_t> ignored,
                              bool inTop5, bool byClass) {
  RankedTensorType type = getType(logits);
  Type element = type.getElementType(), f32 = b.getF32Type();
  int64_t dim = type.getRank() - 1, classes = type.getShape().back();
  Value isLabel =
      OneHotOp::create(b, type.clone(b.getI1Type()), labels, Value());
  Value isCounted;
  if (ignored)
    isCounted = createIsCounted(b, labels, *ignored);
  auto ifCounted = [&](Value x) -> Value {
    return isCounted ? LogicalAndOp::create(b, x, isCounted) : x;
  };
  // The number of smaller logits determines the number of logits at least as
  // large. A NaN is not smaller.
  Value own = ReduceSumOp::create(
      b,
      SelectOp::create(b, isLabel, logits, createConstant(b, element, {0.0})),
      dim);
  Value below = ReduceSumOp::create(
      b,
      SelectOp::create(b, CompareOp::create(b, Comparison::lt, logits, own),
                       createConstant(b, f32, {1.0}),
                       createConstant(b, f32, {0.0})),
      dim);
  auto isInTop = [&](int64_t k) {
    return ifCounted(
        CompareOp::create(b, Comparison::ge, below,
                          createConstant(b, f32, {double(classes - k)})));
  };
  ClassCounts counts;
  Value isRight = isInTop(1);
  counts.numRight = createNumTrue(b, isRight);
  if (inTop5)
    counts.numInTop5 = createNumTrue(b, isInTop(5));
  if (!byClass)
    return counts;
  Value largest = ReduceMaxOp::create(b, logits, dim);
  counts.hits =
      createNumTrueByColumn(b, LogicalAndOp::create(b, isLabel, isRight));
  counts.predicted = createNumTrueByColumn(
      b, ifCounted(CompareOp::create(b, Comparison::ge, logits, largest)));
  counts.labels = createNumTrueByColumn(b, ifCounted(isLabel));
  return counts;
}

ClassCounts dtc::countSigns(ImplicitLocOpBuilder &b, Value logits,
                            Value targets, bool byClass) {
  Type element = getType(logits).getElementType();
  Value half = createConstant(b, element, {0.5});
  Value zero = createConstant(b, element, {0.0});
  auto isAbove = [&](Value x, Value bound) -> Value {
    return CompareOp::create(b, Comparison::gt, x, bound);
  };
  ClassCounts counts;
  counts.numRight = createNumTrue(
      b,
      isAbove(MulOp::create(b, logits, SubOp::create(b, targets, half)), zero));
  if (!byClass)
    return counts;
  Value isPredicted = isAbove(logits, zero), isLabel = isAbove(targets, half);
  counts.hits =
      createNumTrueByColumn(b, LogicalAndOp::create(b, isPredicted, isLabel));
  counts.predicted = createNumTrueByColumn(b, isPredicted);
  counts.labels = createNumTrueByColumn(b, isLabel);
  return counts;
}
