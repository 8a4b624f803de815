//===- Elementwise.cpp - elementwise operators at import ------------------===//
//
// Arithmetic, comparison, logic, choice and conversion, with broadcasting.
//
//===----------------------------------------------------------------------===//

#include "Evaluate/Evaluator.h"
#include "Shapes/ShapeRules.h"
#include "Support/Problem.h"

#include <algorithm>
#include <cmath>

using namespace llvm;

namespace dtc::frontend {

namespace {
const HostTensor &in(const Call &call, unsigned i) {
  return *call.operands[i].constant;
}

template <double (*f)(double)> Expected<Values> unaryFloat(const Call &call) {
  HostTensor result = in(call, 0);
  for (int64_t i = 0; i < result.size(); ++i)
    result.setFloat(i, f(result.getFloat(i)));
  return Values{result};
}

template <double (*f)(double), int64_t (*g)(int64_t)>
Expected<Values> unaryNumber(const Call &call) {
  if (in(call, 0).isFloat())
    return unaryFloat<f>(call);
  HostTensor result = in(call, 0);
  for (int64_t i = 0; i < result.size(); ++i)
    result.setInt(i, g(result.getInt(i)));
  return Values{result};
}

double reciprocal(double x) { return 1 / x; }
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double relu(double x) { return x > 0 || std::isnan(x) ? x : 0; }
double negate(double x) { return -x; }
double sign(double x) { return (x > 0) - (x < 0); }
double absolute(double x) { return std::fabs(x); }
/// Rounds halves to even, which is the default mode of the machine.
double roundEven(double x) { return std::nearbyint(x); }
int64_t negateInt(int64_t x) { return -uint64_t(x); }
int64_t signInt(int64_t x) { return (x > 0) - (x < 0); }
int64_t absoluteInt(int64_t x) { return x < 0 ? negateInt(x) : x; }
int64_t reluInt(int64_t x) { return std::max<int64_t>(x, 0); }

Expected<Values> evaluateNot(const Call &call) {
  HostTensor result = in(call, 0);
  for (int64_t i = 0; i < result.size(); ++i)
    result.setInt(i, !result.getInt(i));
  return Values{result};
}

template <bool (*f)(double)> Expected<Values> classify(const Call &call) {
  HostTensor result(DType::Bool, call.shape(0));
  for (int64_t i = 0; i < result.size(); ++i)
    result.setInt(i, f(in(call, 0).getFloat(i)));
  return Values{result};
}
bool isNaN(double x) { return std::isnan(x); }

/// Applies `f` to the elements of two broadcast tensors.
template <typename Fn>
Expected<HostTensor> zip(DType dtype, const HostTensor &a, const HostTensor &b,
                         Fn f) {
  Expected<Shape> shape = broadcastShapes(a.shape(), b.shape());
  if (!shape)
    return shape.takeError();
  if (Error error = requireFoldable(*shape))
    return std::move(error);
  HostTensor left = a.broadcast(*shape), right = b.broadcast(*shape);
  HostTensor result(dtype, *shape);
  for (int64_t i = 0; i < result.size(); ++i)
    f(result, i, left, right);
  return result;
}

/// Folds all operands with one function for floats and one for integers.
template <double (*f)(double, double), int64_t (*g)(int64_t, int64_t)>
Expected<Values> arithmetic(const Call &call) {
  HostTensor result = in(call, 0);
  for (size_t k = 1; k < call.operands.size(); ++k) {
    auto next = zip(result.dtype(), result, in(call, k),
                    [](HostTensor &out, int64_t i, const HostTensor &a,
                       const HostTensor &b) {
                      if (a.isFloat())
                        out.setFloat(i, f(a.getFloat(i), b.getFloat(i)));
                      else
                        out.setInt(i, g(a.getInt(i), b.getInt(i)));
                    });
    if (!next)
      return next.takeError();
    result = std::move(*next);
  }
  return Values{result};
}

// Integers wrap around in two's complement.
double add(double a, double b) { return a + b; }
int64_t addInt(int64_t a, int64_t b) { return uint64_t(a) + uint64_t(b); }
double subtract(double a, double b) { return a - b; }
int64_t subtractInt(int64_t a, int64_t b) { return uint64_t(a) - uint64_t(b); }
double multiply(double a, double b) { return a * b; }
int64_t multiplyInt(int64_t a, int64_t b) { return uint64_t(a) * uint64_t(b); }
double divide(double a, double b) { return a / b; }
int64_t divideInt(int64_t a, int64_t b) {
  return b == -1 ? negateInt(a) : a / b;
}
double maximum(double a, double b) { return std::isnan(a) || a > b ? a : b; }
int64_t maximumInt(int64_t a, int64_t b) { return std::max(a, b); }
double minimum(double a, double b) { return std::isnan(a) || a < b ? a : b; }
int64_t minimumInt(int64_t a, int64_t b) { return std::min(a, b); }

Expected<Values> evaluateDiv(const Call &call) {
  if (Error error = call.requireSameTypes())
    return std::move(error);
  const HostTensor &divisor = in(call, 1);
  if (!divisor.isFloat())
    for (int64_t i = 0; i < divisor.size(); ++i)
      if (divisor.getInt(i) == 0)
        return problem("divides an integer by zero");
  return arithmetic<divide, divideInt>(call);
}

Expected<Values> evaluateMod(const Call &call) {
  if (Error error = call.requireSameTypes())
    return std::move(error);
  bool truncated = call.getInt("fmod", 0);
  const HostTensor &divisor = in(call, 1);
  for (int64_t i = 0; i < divisor.size(); ++i)
    if (!divisor.isFloat() && divisor.getInt(i) == 0)
      return problem("takes an integer modulo zero");
  auto result =
      zip(in(call, 0).dtype(), in(call, 0), divisor,
          [&](HostTensor &out, int64_t i, const HostTensor &a,
              const HostTensor &b) {
            if (a.isFloat()) {
              double x = a.getFloat(i), y = b.getFloat(i);
              out.setFloat(i, truncated ? std::fmod(x, y)
                                        : x - y * std::floor(x / y));
              return;
            }
            int64_t y = b.getInt(i), rest = y == -1 ? 0 : a.getInt(i) % y;
            // Without fmod, the result has the sign of the divisor.
            out.setInt(i, !truncated && rest && (rest < 0) != (y < 0) ? rest + y
                                                                      : rest);
          });
  if (!result)
    return result.takeError();
  return Values{*result};
}

Expected<Values> evaluatePow(const Call &call) {
  auto result = zip(
      in(call, 0).dtype(), in(call, 0), in(call, 1),
      [](HostTensor &out, int64_t i, const HostTensor &a, const HostTensor &b) {
        out.setFloat(i, std::pow(a.getFloat(i), b.getFloat(i)));
      });
  if (!result)
    return result.takeError();
  return Values{*result};
}

Expected<Values> evaluateMean(const Call &call) {
  auto sum = arithmetic<add, addInt>(call);
  if (!sum)
    return sum.takeError();
  for (int64_t i = 0; i < (*sum)[0].size(); ++i)
    (*sum)[0].setFloat(i, (*sum)[0].getFloat(i) / call.operands.size());
  return sum;
}

template <bool (*f)(double, double), bool (*g)(int64_t, int64_t)>
Expected<Values> compare(const Call &call) {
  auto result = zip(
      DType::Bool, in(call, 0), in(call, 1),
      [](HostTensor &out, int64_t i, const HostTensor &a, const HostTensor &b) {
        out.setInt(i, a.isFloat() ? f(a.getFloat(i), b.getFloat(i))
                                  : g(a.getInt(i), b.getInt(i)));
      });
  if (!result)
    return result.takeError();
  return Values{*result};
}
template <typename T> bool equal(T a, T b) { return a == b; }
template <typename T> bool notEqual(T a, T b) { return a != b; }
template <typename T> bool less(T a, T b) { return a < b; }
template <typename T> bool lessEqual(T a, T b) { return a <= b; }
template <typename T> bool greater(T a, T b) { return a > b; }
template <typename T> bool greaterEqual(T a, T b) { return a >= b; }
template <typename T> bool both(T a, T b) { return a && b; }
template <typename T> bool either(T a, T b) { return a || b; }

Expected<Values> evaluateWhere(const Call &call) {
  Expected<Shape> shape = broadcastOperands(call);
  if (!shape)
    return shape.takeError();
  if (Error error = requireFoldable(*shape))
    return std::move(error);
  HostTensor condition = in(call, 0).broadcast(*shape);
  HostTensor onTrue = in(call, 1).broadcast(*shape);
  HostTensor result = in(call, 2).broadcast(*shape);
  for (int64_t i = 0; i < result.size(); ++i)
    if (condition.getInt(i))
      result.copy(i, onTrue, i);
  return Values{result};
}

/// Before opset 11 the bounds are attributes.
Expected<Values> evaluateClip(const Call &call) {
  if (Error error = call.requireScalars({1, 2}))
    return std::move(error);
  HostTensor result = in(call, 0);
  auto limit = [&](unsigned operand, StringRef name, auto isBeyond) {
    HostTensor bound(result.dtype(), {});
    if (call.hasOperand(operand))
      bound = in(call, operand);
    else if (call.attribute(name))
      bound.setFloat(0, call.getFloat(name, 0));
    else
      return;
    for (int64_t i = 0; i < result.size(); ++i)
      if (isBeyond(result.getFloat(i), bound.getFloat(0)))
        result.copy(i, bound, 0);
  };
  limit(1, "min", less<double>);
  limit(2, "max", greater<double>);
  return Values{result};
}

Expected<Values> evaluateCast(const Call &call) {
  Expected<DType> dtype = call.getDType("to", DType::F32);
  if (!dtype)
    return dtype.takeError();
  HostTensor result = in(call, 0).cast(*dtype);
  if (std::optional<Call::Narrow> narrow = call.getNarrow("to"))
    for (int64_t i = 0; i < result.size(); ++i)
      result.setInt(i, narrow->isSigned
                           ? SignExtend64(result.getInt(i), narrow->bits)
                           : result.getInt(i) &
                                 maskTrailingOnes<uint64_t>(narrow->bits));
  return Values{result};
}

Expected<Values> evaluateCastLike(const Call &call) {
  return Values{in(call, 0).cast(call.operands[1].dtype)};
}

Expected<Values> evaluateIdentity(const Call &call) {
  return Values{in(call, 0)};
}
} // namespace

void addElementwiseEvaluators(EvaluateTable &table) {
  table["Abs"] = unaryNumber<absolute, absoluteInt>;
  table["Neg"] = unaryNumber<negate, negateInt>;
  table["Sign"] = unaryNumber<sign, signInt>;
  table["Relu"] = unaryNumber<relu, reluInt>;
  table["Floor"] = unaryFloat<std::floor>;
  table["Ceil"] = unaryFloat<std::ceil>;
  table["Round"] = unaryFloat<roundEven>;
  table["Sqrt"] = unaryFloat<std::sqrt>;
  table["Exp"] = unaryFloat<std::exp>;
  table["Log"] = unaryFloat<std::log>;
  table["Erf"] = unaryFloat<std::erf>;
  table["Tanh"] = unaryFloat<std::tanh>;
  table["Sin"] = unaryFloat<std::sin>;
  table["Cos"] = unaryFloat<std::cos>;
  table["Tan"] = unaryFloat<std::tan>;
  table["Asin"] = unaryFloat<std::asin>;
  table["Acos"] = unaryFloat<std::acos>;
  table["Atan"] = unaryFloat<std::atan>;
  table["Sinh"] = unaryFloat<std::sinh>;
  table["Cosh"] = unaryFloat<std::cosh>;
  table["Asinh"] = unaryFloat<std::asinh>;
  table["Acosh"] = unaryFloat<std::acosh>;
  table["Atanh"] = unaryFloat<std::atanh>;
  table["Sigmoid"] = unaryFloat<sigmoid>;
  table["Reciprocal"] = unaryFloat<reciprocal>;
  table["Not"] = evaluateNot;
  table["IsNaN"] = classify<isNaN>;
  table["Add"] = arithmetic<add, addInt>;
  table["Sum"] = arithmetic<add, addInt>;
  table["Sub"] = arithmetic<subtract, subtractInt>;
  table["Mul"] = arithmetic<multiply, multiplyInt>;
  table["Div"] = evaluateDiv;
  table["Mod"] = evaluateMod;
  table["Pow"] = evaluatePow;
  table["Max"] = arithmetic<maximum, maximumInt>;
  table["Min"] = arithmetic<minimum, minimumInt>;
  table["Mean"] = evaluateMean;
  table["Equal"] = compare<equal<double>, equal<int64_t>>;
  table["Less"] = compare<less<double>, less<int64_t>>;
  table["LessOrEqual"] = compare<lessEqual<double>, lessEqual<int64_t>>;
  table["Greater"] = compare<greater<double>, greater<int64_t>>;
  table["GreaterOrEqual"] =
      compare<greaterEqual<double>, greaterEqual<int64_t>>;
  table["And"] = compare<both<double>, both<int64_t>>;
  table["Or"] = compare<either<double>, either<int64_t>>;
  table["Xor"] = compare<notEqual<double>, notEqual<int64_t>>;
  table["Where"] = evaluateWhere;
  table["Clip"] = evaluateClip;
  table["Cast"] = evaluateCast;
  table["CastLike"] = evaluateCastLike;
  table["Identity"] = evaluateIdentity;
  table["StopGradient"] = evaluateIdentity;
}

} // namespace dtc::frontend
