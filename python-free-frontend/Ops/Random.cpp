//===- Random.cpp - import of dropout and random numbers ------------------===//
//
// The seed of the training program controls all random numbers. Seeds of nodes
// are ignored.
//
//===----------------------------------------------------------------------===//

#include "Ops/Operators.h"
#include "Ops/Randomness.h"

#include <cmath>

using namespace llvm;
using mlir::Value;

namespace dtc::frontend {

namespace {
/// 0, or x / (1 - probability) in training.
Value dropOut(NodeBuilder &node, Value x, double probability, int64_t id) {
  if (probability == 0)
    return x;
  return node.create<DropoutOp>(x.getType(), x, node.randomness->getSeed(),
                                node.randomness->getStep(), id,
                                APFloat(probability));
}

Value drawUniform(NodeBuilder &node, ArrayRef<int64_t> shape, DType dtype) {
  return node.create<RandomUniformOp>(
      node.typeOf(shape, node.toType(dtype)), node.randomness->getSeed(),
      node.randomness->getStep(), node.randomness->takeId());
}

/// 1 with a known probability, else 0. Built as dropout of a constant;
/// evaluations use its mean.
Value drawBernoulli(NodeBuilder &node, double probability,
                    ArrayRef<int64_t> shape, DType dtype, int64_t id) {
  Value mean = node.broadcast(
      node.constant(HostTensor::scalar(dtype, probability)), shape);
  if (!node.randomness->hasDropout() || probability <= 0)
    return mean;
  return dropOut(node, mean, 1 - std::min(probability, 1.0), id);
}

Error importDropout(NodeBuilder &node) {
  if (Error error = node.requireFloat(0))
    return error;
  Expected<double> probability =
      node.randomness->getProbability(node.call, node.getName());
  if (!probability)
    return probability.takeError();
  Value x = node.operand(0);
  int64_t id = node.randomness->takeId();
  node.setResult(0, dropOut(node, x, *probability, id));
  if (node.hasResult(1)) { // the mask is the dropout of ones
    Value ones = node.broadcast(node.scalar(1, x), node.call.shape(0));
    node.setResult(
        1, node.cast(dropOut(node, ones, *probability, id), DType::Bool));
  }
  return Error::success();
}

/// The shape of operand 0, or that of the attribute.
template <bool like> Expected<Shape> getShape(NodeBuilder &node) {
  if (like)
    return Shape(node.call.shape(0));
  auto shape = node.call.getInts("shape");
  if (!shape)
    return problem("attribute 'shape' is missing",
                   "the model is not valid ONNX; export it again");
  return Shape(shape->begin(), shape->end());
}

template <bool like> Expected<DType> getElementType(NodeBuilder &node) {
  DType otherwise = node.call.floatType;
  if (like && isFloat(node.call.operands[0].dtype))
    otherwise = node.call.operands[0].dtype;
  Expected<DType> dtype = node.call.getDType("dtype", otherwise);
  if (dtype && !isFloat(*dtype))
    return problem("random numbers of element type " + toString(*dtype) +
                       " are not supported",
                   "supported are f32 and f64");
  return dtype;
}

/// Box-Muller transform of two uniform numbers.
template <bool like> Error importNormal(NodeBuilder &node) {
  Expected<Shape> shape = getShape<like>(node);
  if (!shape)
    return shape.takeError();
  Expected<DType> dtype = getElementType<like>(node);
  if (!dtype)
    return dtype.takeError();
  Value radius = drawUniform(node, *shape, *dtype);
  Value angle = drawUniform(node, *shape, *dtype);
  double deviation = node.call.getFloat("scale", 1);
  double mean = node.call.getFloat("mean", 0);
  radius = node.elementwise<LogOp>(radius);
  radius = node.elementwise<SqrtOp>(
      node.mul(radius, node.scalar(-2 * deviation * deviation, radius)));
  angle =
      node.elementwise<CosOp>(node.mul(angle, node.scalar(2 * M_PI, angle)));
  Value numbers = node.mul(radius, angle);
  if (mean != 0)
    numbers = node.add(numbers, node.scalar(mean, numbers));
  node.setResult(0, numbers);
  return Error::success();
}

template <bool like> Error importUniform(NodeBuilder &node) {
  Expected<Shape> shape = getShape<like>(node);
  if (!shape)
    return shape.takeError();
  Expected<DType> dtype = getElementType<like>(node);
  if (!dtype)
    return dtype.takeError();
  double low = node.call.getFloat("low", 0),
         high = node.call.getFloat("high", 1);
  Value numbers = drawUniform(node, *shape, *dtype);
  if (high - low != 1)
    numbers = node.mul(numbers, node.scalar(high - low, numbers));
  if (low != 0)
    numbers = node.add(numbers, node.scalar(low, numbers));
  node.setResult(0, numbers);
  return Error::success();
}

Error importBernoulli(NodeBuilder &node) {
  if (Error error = node.requireFloat(0))
    return error;
  Expected<DType> dtype =
      node.call.getDType("dtype", node.call.operands[0].dtype);
  if (!dtype)
    return dtype.takeError();
  DType computed = node.call.operands[0].dtype;
  if (const HostTensor *known = node.call.operands[0].constant) {
    HostTensor compact = known->compacted();
    if (compact.size() == 1 && isFloat(*dtype)) {
      node.setResult(0, drawBernoulli(node, compact.getFloat(0),
                                      node.call.shape(0), *dtype,
                                      node.randomness->takeId()));
      return Error::success();
    }
  }
  Value numbers = drawUniform(node, node.call.shape(0), computed);
  node.setResult(
      0, node.cast(node.compare(Comparison::lt, numbers, node.operand(0)),
                   *dtype));
  return Error::success();
}
} // namespace

/// The value of a constant that has one element.
static std::optional<double> readNumber(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  if (!constant || constant.getType().getNumElements() != 1)
    return std::nullopt;
  return cast<mlir::DenseElementsAttr>(constant.getValue())
      .getSplatValue<APFloat>()
      .convertToDouble();
}

/// PyTorch's exporters write Bernoulli as random numbers that are compared with
/// the probability, cast to float.
Value readBernoulli(NodeBuilder &node, Value condition, DType dtype) {
  auto compare = condition.getDefiningOp<CompareOp>();
  if (!compare || !isFloat(dtype))
    return {};
  auto numbers = compare.getLhs().getDefiningOp<RandomUniformOp>();
  std::optional<double> bound =
      numbers ? readNumber(compare.getRhs()) : std::nullopt;
  if (!bound)
    return {};
  double probability = *bound;
  switch (compare.getPredicate()) {
  case Comparison::lt:
  case Comparison::le:
    break;
  case Comparison::gt:
  case Comparison::ge:
    probability = 1 - probability;
    break;
  default:
    return {};
  }
  return drawBernoulli(node, probability, node.shapeOf(condition), dtype,
                       numbers.getId());
}

/// Other exporters write Bernoulli as floor(probability + random number).
Value readBernoulli(NodeBuilder &node, Value sum) {
  auto add = sum.getDefiningOp<AddOp>();
  if (!add)
    return {};
  Value left = add.getLhs(), right = add.getRhs();
  if (left.getDefiningOp<ConstantOp>())
    std::swap(left, right);
  auto numbers = left.getDefiningOp<RandomUniformOp>();
  std::optional<double> probability = readNumber(right);
  if (!numbers || !probability || *probability <= 0 || *probability > 1)
    return {};
  return drawBernoulli(node, *probability, node.shapeOf(sum),
                       node.call.operands[0].dtype, numbers.getId());
}

void addRandomOperators(OperatorTable &table) {
  table.add({
      {"Dropout", 7, 1, 3, "ratio seed", importDropout, afterFirst},
      {"RandomUniform", 1, 0, 0, "dtype high low seed shape",
       importUniform<false>},
      {"RandomUniformLike", 1, 1, 1, "dtype high low seed", importUniform<true>,
       first},
      {"RandomNormal", 1, 0, 0, "dtype mean scale seed shape",
       importNormal<false>},
      {"RandomNormalLike", 1, 1, 1, "dtype mean scale seed", importNormal<true>,
       first},
      {"Bernoulli", 15, 1, 1, "dtype seed", importBernoulli, first},
  });
}

} // namespace dtc::frontend
