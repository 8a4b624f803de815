//===- Reduction.cpp - reductions at import -------------------------------===//
//
// Sums, products and extremes over dimensions.
//
//===----------------------------------------------------------------------===//

#include "Evaluate/Evaluator.h"
#include "Shapes/ShapeRules.h"
#include "Support/Problem.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace llvm;

namespace dtc::frontend {

namespace {
/// The operand as a matrix whose last dimension has the reduced ones.
struct Rows {
  Shape shape;
  HostTensor values;
  int64_t count, length;
};

Expected<Rows> gatherRows(const Call &call) {
  Expected<Reduction> plan = reduction(call);
  if (!plan)
    return plan.takeError();
  Shape permutation;
  for (int64_t d = 0; d < call.rank(0); ++d)
    if (!is_contained(plan->axes, d))
      permutation.push_back(d);
  permutation.append(plan->axes);
  int64_t count = numElements(plan->keptShape);
  int64_t length = 1;
  for (int64_t axis : plan->axes)
    length *= call.shape(0)[axis];
  return Rows{plan->shape, call.operands[0].constant->transposed(permutation),
              count, length};
}

// Sums in double, which is at least as exact as any order of float additions.
double add(double a, double b) { return a + b; }
// Integers wrap around in two's complement.
int64_t addInt(int64_t a, int64_t b) { return uint64_t(a) + uint64_t(b); }
double multiply(double a, double b) { return a * b; }
int64_t multiplyInt(int64_t a, int64_t b) { return uint64_t(a) * uint64_t(b); }
double larger(double a, double b) { return std::max(a, b); }
int64_t largerInt(int64_t a, int64_t b) { return std::max(a, b); }
double smaller(double a, double b) { return std::min(a, b); }
int64_t smallerInt(int64_t a, int64_t b) { return std::min(a, b); }

enum class Empty { Zero, One, Error };

template <double (*f)(double, double), int64_t (*g)(int64_t, int64_t),
          Empty empty, bool mean = false>
Expected<Values> reduce(const Call &call) {
  Expected<Rows> rows = gatherRows(call);
  if (!rows)
    return rows.takeError();
  if (rows->length == 0 && empty == Empty::Error)
    return problem("reduces an empty dimension");
  const HostTensor &x = rows->values;
  HostTensor result(x.dtype(), rows->shape);
  for (int64_t r = 0; r < rows->count; ++r) {
    int64_t first = r * rows->length;
    if (x.isFloat()) {
      double total = rows->length ? x.getFloat(first) : empty == Empty::One;
      for (int64_t i = 1; i < rows->length; ++i)
        total = f(total, x.getFloat(first + i));
      result.setFloat(r, mean ? total / rows->length : total);
    } else {
      int64_t total = rows->length ? x.getInt(first) : empty == Empty::One;
      for (int64_t i = 1; i < rows->length; ++i)
        total = g(total, x.getInt(first + i));
      result.setInt(r, mean ? total / rows->length : total);
    }
  }
  return Values{result};
}
} // namespace

void addReductionEvaluators(EvaluateTable &table) {
  table["ReduceSum"] = reduce<add, addInt, Empty::Zero>;
  table["ReduceMean"] = reduce<add, addInt, Empty::Error, true>;
  table["ReduceProd"] = reduce<multiply, multiplyInt, Empty::One>;
  table["ReduceMax"] = reduce<larger, largerInt, Empty::Error>;
  table["ReduceMin"] = reduce<smaller, smallerInt, Empty::Error>;
}

} // namespace dtc::frontend
