//===- Elementwise.cpp - import of elementwise operators ------------------===//
//
// Arithmetic, comparison, logic, choice, conversion.
//
//===----------------------------------------------------------------------===//

#include "Operators.h"
#include "ShapeRules.h"

#include <cmath>

using namespace llvm;
using mlir::Value;

namespace dtc::frontend {

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

/// One or more operands, combined from left to right.
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

/// x to a small constant power, by products as frameworks compute it: exact
/// for negative x, and a derivative without logarithm.
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
  if (node.call.operands[0].dtype == DType::Bool)
    return problem("compares bool at run time, supported are numbers",
                   "use And, Or and Not");
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
  if (node.call.operands[1].dtype == DType::Bool)
    return problem("chooses between bools at run time, supported are numbers",
                   "use And, Or and Not");
  node.setResult(0, node.elementwise<SelectOp>(node.allOperands(), 1));
  return Error::success();
}

Error importClip(NodeBuilder &node) {
  if (Error error = node.requireSameTypes())
    return error;
  if (Error error = node.call.requireScalars({1, 2}))
    return error;
  Value x = node.operand(0);
  if (node.call.hasOperand(1))
    x = node.elementwise<MaximumOp>({x, node.reshape(node.operand(1), {})});
  if (node.call.hasOperand(2))
    x = node.elementwise<MinimumOp>({x, node.reshape(node.operand(2), {})});
  node.setResult(0, x);
  return Error::success();
}

Error importCast(NodeBuilder &node) {
  Expected<DType> dtype = node.call.getDType("to", DType::F32);
  if (!dtype)
    return dtype.takeError();
  node.setResult(0, node.cast(node.operand(0), *dtype));
  return Error::success();
}

Error importCastLike(NodeBuilder &node) {
  node.setResult(0, node.cast(node.operand(0), node.call.operands[1].dtype));
  return Error::success();
}

Error importIdentity(NodeBuilder &node) {
  node.setResult(0, node.operand(0));
  return Error::success();
}

Error importDropout(NodeBuilder &node) {
  bool training = false;
  if (node.call.hasOperand(2)) {
    auto mode = node.call.constant(2, "training_mode");
    if (!mode)
      return mode.takeError();
    training = (*mode)->size() == 1 && (*mode)->getInt(0);
  }
  double ratio = 0.5;
  if (training && node.call.hasOperand(1)) {
    auto given = node.call.constant(1, "ratio");
    if (!given)
      return given.takeError();
    if ((*given)->size() == 1)
      ratio = (*given)->getFloat(0);
  }
  if (training && ratio != 0)
    return problem("dropout in training mode is not supported",
                   "set its probability to 0, or put the Dropout modules in "
                   "eval mode, before the export");
  node.setResult(0, node.operand(0));
  if (node.hasResult(1))
    node.setResult(
        1,
        node.constant(
            HostTensor::scalar(DType::Bool, 1).broadcast(node.call.shape(0))));
  return Error::success();
}
} // namespace

void addElementwiseOperators(OperatorTable &table) {
  table.add({
      {"Add", 7, 2, 2, "", importFold<AddOp>},
      {"Sub", 7, 2, 2, "", importFold<SubOp>},
      {"Mul", 7, 2, 2, "", importFold<MulOp>},
      {"Div", 7, 2, 2, "", importFold<DivOp>},
      {"Mod", 10, 2, 2, "fmod"},
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
      {"Tanh", 6, 1, 1, "", importUnary<TanhOp>},
      {"Sigmoid", 6, 1, 1, "", importUnary<SigmoidOp>},
      {"Relu", 6, 1, 1, "", importUnary<ReluOp>},
      {"Sin", 7, 1, 1, ""},
      {"Cos", 7, 1, 1, ""},
      {"Floor", 6, 1, 1, ""},
      {"Ceil", 6, 1, 1, ""},
      {"Round", 11, 1, 1, ""},
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
      {"Where", 9, 3, 3, "", importWhere},
      {"Clip", 11, 1, 3, "", importClip, afterFirst},
      {"Cast", 6, 1, 1, "to saturate", importCast},
      {"CastLike", 15, 2, 2, "saturate", importCastLike, second},
      {"Identity", 1, 1, 1, "", importIdentity},
      {"Dropout", 10, 1, 3, "ratio seed", importDropout, afterFirst},
  });
}

} // namespace dtc::frontend
