//===- Elementwise.cpp - import of elementwise operators ------------------===//
//
// Arithmetic, comparison, logic, choice, conversion.
//
//===----------------------------------------------------------------------===//

#include "Ops/Operators.h"
#include "Shapes/ShapeRules.h"

#include <cmath>

using namespace llvm;
using mlir::Value;

namespace dtc::frontend {

Value buildFloor(NodeBuilder &node, Value x) {
  return node.elementwise<FloorOp>(x);
}

/// Rounds to the nearest integer, halves to the even one.
Value buildRound(NodeBuilder &node, Value x) {
  Value below = buildFloor(node, x), half = node.scalar(0.5, x);
  Value above = node.add(below, node.scalar(1, x));
  Value rest = node.sub(x, below);
  Value halved = node.mul(below, half);
  Value isEven = node.compare(Comparison::eq, halved, buildFloor(node, halved));
  Value even = node.select(isEven, below, above);
  Value isHalf = node.compare(Comparison::eq, rest, half);
  Value nearest =
      node.select(node.compare(Comparison::lt, rest, half), below, above);
  return node.select(isHalf, even, nearest);
}

namespace {
Error checkShapes(NodeBuilder &node) {
  return broadcastOperands(node.call).takeError();
}

template <typename Op> Error importUnary(NodeBuilder &node) {
  if (Error error = node.requireFloat(0))
    return error;
  node.setResult(0, node.elementwise<Op>(node.operand(0)));
  return Error::success();
}

/// The import rule for a function of one float that is built from other ops.
template <Value (*f)(NodeBuilder &, Value)>
Error importComposed(NodeBuilder &node) {
  if (Error error = node.requireFloat(0))
    return error;
  node.setResult(0, f(node, node.operand(0)));
  return Error::success();
}

/// The import rule for a rounding. Integers stay as they are.
template <Value (*f)(NodeBuilder &, Value)>
Error importRounding(NodeBuilder &node) {
  Value x = node.operand(0);
  node.setResult(0, isFloat(node.call.operands[0].dtype) ? f(node, x) : x);
  return Error::success();
}

Error importFloor(NodeBuilder &node) {
  Value drawn = readBernoulli(node, node.operand(0));
  if (!drawn)
    return importRounding<buildFloor>(node);
  node.setResult(0, drawn);
  return Error::success();
}

Value buildCeil(NodeBuilder &node, Value x) {
  return node.elementwise<NegOp>(buildFloor(node, node.elementwise<NegOp>(x)));
}

/// 1 - erf(x).
Value buildErfc(NodeBuilder &node, Value x) {
  return node.sub(node.scalar(1, x), node.elementwise<ErfOp>(x));
}

Value buildTan(NodeBuilder &node, Value x) {
  return node.elementwise<DivOp>(
      {node.elementwise<SinOp>(x), node.elementwise<CosOp>(x)});
}

/// sqrt((1 - x) (1 + x)) is more precise near 1 than sqrt(1 - x^2).
Value buildCoordinate(NodeBuilder &node, Value x) {
  Value one = node.scalar(1, x);
  return node.elementwise<SqrtOp>(node.mul(node.sub(one, x), node.add(x, one)));
}

Value buildAsin(NodeBuilder &node, Value x) {
  return node.elementwise<AtanOp>(
      node.elementwise<DivOp>({x, buildCoordinate(node, x)}));
}

Value buildAcos(NodeBuilder &node, Value x) {
  return node.sub(node.scalar(M_PI / 2, x), buildAsin(node, x));
}

/// (exp(x) + sign exp(-x)) / 2
Value buildHyperbolic(NodeBuilder &node, Value x, double sign) {
  Value growth = node.elementwise<ExpOp>(x);
  Value decay = node.elementwise<ExpOp>(node.elementwise<NegOp>(x));
  return node.mul(node.add(growth, node.mul(decay, node.scalar(sign, x))),
                  node.scalar(0.5, x));
}
Value buildSinh(NodeBuilder &node, Value x) {
  return buildHyperbolic(node, x, -1);
}
Value buildCosh(NodeBuilder &node, Value x) {
  return buildHyperbolic(node, x, 1);
}

/// log(x + sqrt(x^2 + 1)) of |x|, with the sign of x. A negative x would
/// cancel.
Value buildAsinh(NodeBuilder &node, Value x) {
  Value isNegative = node.compare(Comparison::lt, x, node.scalar(0, x));
  auto flip = [&](Value y) {
    return node.select(isNegative, node.elementwise<NegOp>(y), y);
  };
  Value size = flip(x);
  Value root = node.elementwise<SqrtOp>(
      node.add(node.mul(size, size), node.scalar(1, x)));
  return flip(node.elementwise<LogOp>(node.add(size, root)));
}

Value buildAcosh(NodeBuilder &node, Value x) {
  Value one = node.scalar(1, x);
  Value root =
      node.elementwise<SqrtOp>(node.mul(node.sub(x, one), node.add(x, one)));
  return node.elementwise<LogOp>(node.add(x, root));
}

Value buildAtanh(NodeBuilder &node, Value x) {
  Value one = node.scalar(1, x);
  Value ratio = node.elementwise<DivOp>({node.add(one, x), node.sub(one, x)});
  return node.mul(node.elementwise<LogOp>(ratio), node.scalar(0.5, x));
}

/// The import rule for an operator that combines one or more operands from left
/// to right.
template <typename Op> Error importFold(NodeBuilder &node) {
  if (Error error = node.requireSameTypes())
    return error;
  if (Error error = checkShapes(node))
    return error;
  if (node.call.operands[0].dtype == DType::Bool)
    return problem("operands have element type bool, expected a number");
  Value result = node.operand(0);
  for (Value next : node.allOperands().drop_front())
    result = node.elementwise<Op>({result, next});
  node.setResult(0, result);
  return Error::success();
}

Error importMean(NodeBuilder &node) {
  if (Error error = importFold<AddOp>(node))
    return error;
  if (Error error = node.requireFloat(0))
    return error;
  Value sum = node.getResults()[0];
  double count = node.allOperands().size();
  node.setResult(0, node.mul(sum, node.scalar(1 / count, sum)));
  return Error::success();
}

/// With fmod the result has the sign of the dividend, else of the divisor.
Error importMod(NodeBuilder &node) {
  if (Error error = node.requireSameTypes())
    return error;
  if (Error error = checkShapes(node))
    return error;
  Value x = node.operand(0), y = node.operand(1);
  Value quotient = node.elementwise<DivOp>({x, y});
  bool truncates = node.call.getInt("fmod", 0);
  if (isFloat(node.call.operands[0].dtype)) {
    Value down = buildFloor(node, quotient);
    if (truncates) {
      Value isNegative =
          node.compare(Comparison::lt, quotient, node.scalar(0, quotient));
      down = node.select(isNegative, buildCeil(node, quotient), down);
    }
    node.setResult(0, node.sub(x, node.mul(down, y)));
    return Error::success();
  }
  Value rest = node.sub(x, node.mul(quotient, y)), zero = node.scalar(0, rest);
  if (!truncates) {
    // The quotient was rounded towards zero, also where it is negative.
    Value product = node.mul(rest, y);
    rest = node.select(node.compare(Comparison::lt, product, zero),
                       node.add(rest, y), rest);
  }
  node.setResult(0, rest);
  return Error::success();
}

Error importNeg(NodeBuilder &node) {
  Value x = node.operand(0);
  node.setResult(0, isFloat(node.call.operands[0].dtype)
                        ? node.elementwise<NegOp>(x)
                        : node.sub(node.scalar(0, x), x));
  return Error::success();
}

Error importAbs(NodeBuilder &node) {
  Value x = node.operand(0);
  node.setResult(0, isFloat(node.call.operands[0].dtype)
                        ? node.elementwise<AbsOp>(x)
                        : node.elementwise<MaximumOp>(
                              {x, node.sub(node.scalar(0, x), x)}));
  return Error::success();
}

Error importSign(NodeBuilder &node) {
  Value x = node.operand(0), zero = node.scalar(0, x);
  DType dtype = node.call.operands[0].dtype;
  node.setResult(
      0, node.sub(node.cast(node.compare(Comparison::gt, x, zero), dtype),
                  node.cast(node.compare(Comparison::lt, x, zero), dtype)));
  return Error::success();
}

/// Computes x to a small constant power by products, as frameworks do. This is
/// exact for negative x, and its derivative needs no logarithm.
Value powerByProducts(NodeBuilder &node, Value x, double exponent) {
  double magnitude = std::fabs(exponent);
  Value result;
  if (magnitude == 0.5)
    result = node.elementwise<SqrtOp>(x);
  else if (magnitude == 1 || magnitude == 2 || magnitude == 3)
    for (int i = 0; i < int(magnitude); ++i)
      result = result ? node.mul(result, x) : x;
  if (result && exponent < 0)
    result = node.elementwise<ReciprocalOp>(result);
  return result;
}

Error importPow(NodeBuilder &node) {
  if (Error error = checkShapes(node))
    return error;
  if (Error error = node.requireFloat(0))
    return error;
  Value x = node.operand(0);
  const HostTensor *exponent = node.call.operands[1].constant;
  Value result;
  if (exponent && exponent->size() == 1 &&
      exponent->rank() <= node.call.rank(0))
    result = powerByProducts(node, x, exponent->getFloat(0));
  if (!result)
    result = node.elementwise<PowOp>(
        {x, node.cast(node.operand(1), node.call.operands[0].dtype)});
  node.setResult(0, result);
  return Error::success();
}

template <Comparison predicate> Error importCompare(NodeBuilder &node) {
  if (Error error = node.requireSameTypes())
    return error;
  if (Error error = checkShapes(node))
    return error;
  if (node.call.operands[0].dtype == DType::Bool) {
    node.setResult(0, node.compare(predicate,
                                   node.cast(node.operand(0), DType::I32),
                                   node.cast(node.operand(1), DType::I32)));
    return Error::success();
  }
  node.setResult(0, node.compare(predicate, node.operand(0), node.operand(1)));
  return Error::success();
}

Error requireBool(NodeBuilder &node) {
  for (const Operand &operand : node.call.operands)
    if (operand.dtype != DType::Bool)
      return problem("operand has element type " + toString(operand.dtype) +
                     ", expected bool");
  return checkShapes(node);
}

template <typename Op> Error importLogical(NodeBuilder &node) {
  if (Error error = requireBool(node))
    return error;
  node.setResult(0, node.elementwise<Op>(node.allOperands()));
  return Error::success();
}

Error importXor(NodeBuilder &node) {
  if (Error error = requireBool(node))
    return error;
  Value a = node.operand(0), b = node.operand(1);
  Value both = node.elementwise<LogicalAndOp>({a, b});
  node.setResult(0, node.elementwise<LogicalAndOp>(
                        {node.elementwise<LogicalOrOp>({a, b}),
                         node.elementwise<LogicalNotOp>(both)}));
  return Error::success();
}

Error importIsInf(NodeBuilder &node) {
  if (Error error = node.requireFloat(0))
    return error;
  Value x = node.operand(0), result;
  for (auto [name, value] : {std::pair("detect_positive", INFINITY),
                             std::pair("detect_negative", -INFINITY)}) {
    if (!node.call.getInt(name, 1))
      continue;
    Value found = node.compare(Comparison::eq, x, node.scalar(value, x));
    result = result ? node.elementwise<LogicalOrOp>({result, found}) : found;
  }
  node.setResult(0, result ? result
                           : node.constant(HostTensor::scalar(DType::Bool, 0)
                                               .broadcast(node.call.shape(0))));
  return Error::success();
}

Error importIsNaN(NodeBuilder &node) {
  Value x = node.operand(0);
  node.setResult(0, node.compare(Comparison::ne, x, x));
  return Error::success();
}

Error importWhere(NodeBuilder &node) {
  if (Error error = checkShapes(node))
    return error;
  if (node.call.operands[1].dtype != node.call.operands[2].dtype)
    return problem("branches have element types " +
                   toString(node.call.operands[1].dtype) + " and " +
                   toString(node.call.operands[2].dtype) +
                   ", expected the same");
  node.setResult(
      0, node.select(node.operand(0), node.operand(1), node.operand(2)));
  return Error::success();
}

/// Reads a bound of Clip. It is an operand since opset 11, before that an
/// attribute.
Value getBound(NodeBuilder &node, unsigned i, StringRef name) {
  if (node.call.hasOperand(i))
    return node.reshape(node.operand(i), {});
  if (node.call.attribute(name))
    return node.scalar(node.call.getFloat(name, 0), node.operand(0));
  return {};
}

/// Limits x to one bound; `Limit` is the minimum or the maximum. No gradient
/// passes at a bound that is a constant. A computed bound shares the gradient,
/// as in PyTorch's clamp.
template <typename Limit>
Value limit(NodeBuilder &node, Value x, unsigned i, StringRef name,
            Comparison isBeyond) {
  Value bound = getBound(node, i, name);
  if (!bound)
    return x;
  if (node.call.hasOperand(i) && !node.call.operands[i].constant)
    return node.elementwise<Limit>({x, bound});
  return node.select(node.compare(isBeyond, x, bound), bound, x);
}

Error importClip(NodeBuilder &node) {
  if (Error error = node.requireSameTypes())
    return error;
  if (Error error = node.call.requireScalars({1, 2}))
    return error;
  Value x = limit<MaximumOp>(node, node.operand(0), 1, "min", Comparison::le);
  node.setResult(0, limit<MinimumOp>(node, x, 2, "max", Comparison::ge));
  return Error::success();
}

/// Wraps integers to a narrower type. Shifts the bits to the top of the type,
/// which drops the upper ones, and back.
Value wrap(NodeBuilder &node, Value x, Call::Narrow narrow) {
  DType type = fromType(NodeBuilder::elementType(x));
  int64_t lost = (type == DType::I64 ? 64 : 32) - narrow.bits;
  Value factor =
      node.constant(HostTensor::scalar(type, std::ldexp(1.0, int(lost))));
  Value wide = node.cast(node.mul(x, factor), DType::F64);
  Value y = node.cast(
      node.mul(wide, node.scalar(std::ldexp(1.0, -int(lost)), wide)), type);
  if (narrow.isSigned)
    return y;
  Value all = node.constant(
      HostTensor::scalar(type, std::ldexp(1.0, int(narrow.bits))));
  Value zero = node.scalar(0, y);
  return node.select(node.compare(Comparison::lt, y, zero), node.add(y, all),
                     y);
}

Error importCast(NodeBuilder &node) {
  Expected<DType> dtype = node.call.hasOperand(1)
                              ? node.call.operands[1].dtype // of CastLike
                              : node.call.getDType("to", DType::F32);
  if (!dtype)
    return dtype.takeError();
  Value result = readBernoulli(node, node.operand(0), *dtype);
  if (!result) {
    result = node.cast(node.operand(0), *dtype);
    std::optional<Call::Narrow> narrow = node.call.getNarrow("to");
    if (narrow && node.call.operands[0].dtype != DType::Bool)
      result = wrap(node, result, *narrow);
  }
  node.setResult(0, result);
  return Error::success();
}

Error importIdentity(NodeBuilder &node) {
  node.setResult(0, node.operand(0));
  return Error::success();
}

Error importStopGradient(NodeBuilder &node) {
  Value x = node.operand(0);
  // No gradient passes through integers.
  bool isFloat = isa<mlir::FloatType>(mlir::getElementTypeOrSelf(x));
  node.setResult(0, isFloat ? node.elementwise<StopGradientOp>(x) : x);
  return Error::success();
}
} // namespace

void addElementwiseOperators(OperatorTable &table) {
  table.addElementwise({
      {"Add", 7, 2, 2, "", importFold<AddOp>},
      {"Sub", 7, 2, 2, "", importFold<SubOp>},
      {"Mul", 7, 2, 2, "", importFold<MulOp>},
      {"Div", 7, 2, 2, "", importFold<DivOp>},
      {"Mod", 10, 2, 2, "fmod", importMod},
      {"Pow", 7, 2, 2, "", importPow},
      {"Sum", 8, 1, any, "", importFold<AddOp>},
      {"Mean", 8, 1, any, "", importMean},
      {"Max", 8, 1, any, "", importFold<MaximumOp>},
      {"Min", 8, 1, any, "", importFold<MinimumOp>},
      {"Neg", 6, 1, 1, "", importNeg},
      {"Abs", 6, 1, 1, "", importAbs},
      {"Sign", 9, 1, 1, "", importSign},
      {"Exp", 6, 1, 1, "", importUnary<ExpOp>},
      {"Log", 6, 1, 1, "", importUnary<LogOp>},
      {"Sqrt", 6, 1, 1, "", importUnary<SqrtOp>},
      {"Reciprocal", 6, 1, 1, "", importUnary<ReciprocalOp>},
      {"Erf", 9, 1, 1, "", importUnary<ErfOp>},
      // Not an operator of ONNX. tf2onnx writes it for TensorFlow's Erfc.
      {"Erfc", 1, 1, 1, "", importComposed<buildErfc>},
      {"Tanh", 6, 1, 1, "", importUnary<TanhOp>},
      {"Sigmoid", 6, 1, 1, "", importUnary<SigmoidOp>},
      {"Relu", 6, 1, 1, "", importUnary<ReluOp>},
      {"Sin", 7, 1, 1, "", importUnary<SinOp>},
      {"Cos", 7, 1, 1, "", importUnary<CosOp>},
      {"Tan", 7, 1, 1, "", importComposed<buildTan>},
      {"Asin", 7, 1, 1, "", importComposed<buildAsin>},
      {"Acos", 7, 1, 1, "", importComposed<buildAcos>},
      {"Atan", 7, 1, 1, "", importUnary<AtanOp>},
      {"Sinh", 9, 1, 1, "", importComposed<buildSinh>},
      {"Cosh", 9, 1, 1, "", importComposed<buildCosh>},
      {"Asinh", 9, 1, 1, "", importComposed<buildAsinh>},
      {"Acosh", 9, 1, 1, "", importComposed<buildAcosh>},
      {"Atanh", 9, 1, 1, "", importComposed<buildAtanh>},
      {"Floor", 6, 1, 1, "", importFloor},
      {"Ceil", 6, 1, 1, "", importRounding<buildCeil>},
      {"Round", 11, 1, 1, "", importRounding<buildRound>},
      {"Equal", 7, 2, 2, "", importCompare<Comparison::eq>, firstTwo},
      {"Less", 7, 2, 2, "", importCompare<Comparison::lt>, firstTwo},
      {"LessOrEqual", 12, 2, 2, "", importCompare<Comparison::le>, firstTwo},
      {"Greater", 7, 2, 2, "", importCompare<Comparison::gt>, firstTwo},
      {"GreaterOrEqual", 12, 2, 2, "", importCompare<Comparison::ge>, firstTwo},
      {"And", 7, 2, 2, "", importLogical<LogicalAndOp>},
      {"Or", 7, 2, 2, "", importLogical<LogicalOrOp>},
      {"Not", 1, 1, 1, "", importLogical<LogicalNotOp>},
      {"Xor", 7, 2, 2, "", importXor},
      {"IsNaN", 9, 1, 1, "", importIsNaN, first},
      {"IsInf", 10, 1, 1, "detect_negative detect_positive", importIsInf,
       first},
      {"Where", 9, 3, 3, "", importWhere},
      {"Clip", 6, 1, 3, "min max", importClip, afterFirst},
      {"Cast", 6, 1, 1, "to saturate round_mode", importCast},
      {"CastLike", 15, 2, 2, "saturate round_mode", importCast, second},
      {"Identity", 1, 1, 1, "", importIdentity},
      {"StopGradient", 1, 1, 1, "", importStopGradient, first},
  });
}

} // namespace dtc::frontend
