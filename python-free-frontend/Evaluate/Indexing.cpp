//===- Indexing.cpp - lookups at import -----------------------------------===//
//
// Operators that read or return indices.
//
//===----------------------------------------------------------------------===//

#include "Evaluate/Evaluator.h"
#include "Shapes/ShapeRules.h"
#include "Support/Problem.h"

#include "llvm/ADT/StringSwitch.h"

#include <algorithm>
#include <type_traits>

using namespace llvm;

namespace dtc::frontend {

namespace {
const HostTensor &in(const Call &call, unsigned i) {
  return *call.operands[i].constant;
}

Expected<Values> evaluateGather(const Call &call) {
  auto axis = normalizeAxis(call.getInt("axis", 0), call.rank(0));
  if (!axis)
    return axis.takeError();
  ArrayRef<int64_t> table = call.shape(0);
  Shape shape(table.take_front(*axis));
  shape.append(call.operands[1].shape);
  shape.append(table.begin() + *axis + 1, table.end());
  int64_t outer = numElements(table.take_front(*axis));
  int64_t inner = numElements(table.drop_front(*axis + 1));
  int64_t dim = table[*axis], count = in(call, 1).size(), to = 0;
  if (Error error = requireFoldable(shape))
    return std::move(error);
  HostTensor result(in(call, 0).dtype(), shape);
  for (int64_t i = 0; i < outer; ++i)
    for (int64_t k = 0; k < count; ++k) {
      auto index = normalizeIndex(in(call, 1).getInt(k), dim);
      if (!index)
        return index.takeError();
      for (int64_t j = 0; j < inner; ++j)
        result.copy(to++, in(call, 0), (i * dim + *index) * inner + j);
    }
  return Values{result};
}

/// Finds the element of the data that index `i` names. The index replaces its
/// own position along `axis`; all other positions are its own.
Expected<int64_t> findElement(const Call &call, int64_t i, int64_t axis) {
  Shape strides = rowMajorStrides(call.shape(0));
  Shape own = rowMajorStrides(call.shape(1));
  int64_t element = 0;
  for (int64_t d = 0; d < call.rank(0); ++d) {
    int64_t position =
        d == axis ? in(call, 1).getInt(i) : i / own[d] % call.shape(1)[d];
    auto index = normalizeIndex(position, call.shape(0)[d]);
    if (!index)
      return index.takeError();
    element += *index * strides[d];
  }
  return element;
}

Expected<Values> evaluateGatherElements(const Call &call) {
  auto axis = normalizeAxis(call.getInt("axis", 0), call.rank(0));
  if (!axis)
    return axis.takeError();
  if (call.rank(1) != call.rank(0))
    return problem("indices and data differ in rank");
  HostTensor result(in(call, 0).dtype(), call.shape(1));
  for (int64_t i = 0; i < result.size(); ++i) {
    auto from = findElement(call, i, *axis);
    if (!from)
      return from.takeError();
    result.copy(i, in(call, 0), *from);
  }
  return Values{result};
}

/// Combines an element with an update by attribute `reduction`.
template <typename T> T combine(StringRef reduction, T old, T update) {
  // Integers wrap around in two's complement.
  using Wrapping =
      std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>,
                         std::common_type<T>>;
  using U = typename Wrapping::type;
  return StringSwitch<T>(reduction)
      .Case("add", T(U(old) + U(update)))
      .Case("mul", T(U(old) * U(update)))
      .Case("max", std::max(old, update))
      .Case("min", std::min(old, update))
      .Default(update);
}

/// Combines an element of `result` with an element of `updates`.
void put(HostTensor &result, int64_t to, const HostTensor &updates,
         int64_t from, StringRef reduction) {
  if (result.isFloat())
    result.setFloat(
        to, combine(reduction, result.getFloat(to), updates.getFloat(from)));
  else
    result.setInt(to,
                  combine(reduction, result.getInt(to), updates.getInt(from)));
}

Expected<Values> evaluateScatterElements(const Call &call) {
  HostTensor result = in(call, 0);
  auto axis = normalizeAxis(call.getInt("axis", 0), call.rank(0));
  if (!axis)
    return axis.takeError();
  ArrayRef<int64_t> shape = call.shape(1);
  if (call.shape(2) != shape || call.rank(1) != call.rank(0))
    return problem("indices " + toString(shape) + " and updates " +
                   toString(call.shape(2)) + " do not fit " +
                   toString(call.shape(0)));
  for (int64_t i = 0; i < in(call, 1).size(); ++i) {
    auto to = findElement(call, i, *axis);
    if (!to)
      return to.takeError();
    put(result, *to, in(call, 2), i, call.getString("reduction", "none"));
  }
  return Values{result};
}

Expected<Values> evaluateScatterND(const Call &call) {
  StringRef reduction = call.getString("reduction", "none");
  HostTensor result = in(call, 0);
  if (call.rank(1) == 0 || call.shape(1).back() > call.rank(0))
    return problem("indices " + toString(call.shape(1)) + " do not fit " +
                   toString(call.shape(0)));
  int64_t depth = call.shape(1).back();
  int64_t count = numElements(call.shape(1).drop_back());
  int64_t inner = numElements(call.shape(0).drop_front(depth));
  if (count * inner != in(call, 2).size())
    return problem("updates " + toString(call.shape(2)) + " do not fit");
  Shape strides = rowMajorStrides(call.shape(0));
  for (int64_t i = 0; i < count; ++i) {
    int64_t to = 0;
    for (int64_t d = 0; d < depth; ++d) {
      auto index =
          normalizeIndex(in(call, 1).getInt(i * depth + d), call.shape(0)[d]);
      if (!index)
        return index.takeError();
      to += *index * strides[d];
    }
    for (int64_t j = 0; j < inner; ++j) {
      int64_t from = i * inner + j;
      put(result, to + j, in(call, 2), from, reduction);
    }
  }
  return Values{result};
}

Expected<Values> evaluateNonZero(const Call &call) {
  SmallVector<int64_t> found;
  for (int64_t i = 0; i < in(call, 0).size(); ++i)
    if (in(call, 0).getFloat(i) != 0)
      found.push_back(i);
  Shape strides = rowMajorStrides(call.shape(0));
  HostTensor result(DType::I64, {call.rank(0), int64_t(found.size())});
  for (int64_t d = 0; d < call.rank(0); ++d)
    for (size_t k = 0; k < found.size(); ++k)
      result.setInt(d * found.size() + k,
                    found[k] / strides[d] % call.shape(0)[d]);
  return Values{result};
}

Expected<Values> evaluateOneHot(const Call &call) {
  if (Error error = call.requireScalars({1}))
    return std::move(error);
  auto axis = normalizeAxis(call.getInt("axis", -1), call.rank(0) + 1);
  if (!axis)
    return axis.takeError();
  if (call.shape(2) != ArrayRef<int64_t>{2})
    return problem("values have shape " + toString(call.shape(2)) +
                   ", expected [2]");
  int64_t depth = in(call, 1).getInt(0);
  Shape shape(call.shape(0));
  shape.insert(shape.begin() + *axis, depth);
  if (Error error = requireFoldable(shape))
    return std::move(error);
  HostTensor result(in(call, 2).dtype(), shape);
  int64_t inner = numElements(call.shape(0).drop_front(*axis));
  for (int64_t i = 0; i < in(call, 0).size(); ++i) {
    int64_t index = in(call, 0).getInt(i);
    if (index < 0)
      index += depth;
    for (int64_t row = 0; row < depth; ++row)
      result.copy((i / inner * depth + row) * inner + i % inner, in(call, 2),
                  row == index);
  }
  return Values{result};
}

Expected<Values> evaluateCumSum(const Call &call) {
  if (Error error = call.requireScalars({1}))
    return std::move(error);
  auto axis = normalizeAxis(in(call, 1).getInt(0), call.rank(0));
  if (!axis)
    return axis.takeError();
  bool exclusive = call.getInt("exclusive", 0);
  bool reverse = call.getInt("reverse", 0);
  const HostTensor &x = in(call, 0);
  HostTensor result(x.dtype(), call.shape(0));
  int64_t dim = call.shape(0)[*axis];
  int64_t stride = rowMajorStrides(call.shape(0))[*axis];
  for (int64_t base = 0; base < x.size(); ++base) {
    if (base / stride % dim)
      continue; // not the first one of its row
    HostTensor sum(x.dtype(), {});
    for (int64_t k = 0; k < dim; ++k) {
      int64_t i = base + (reverse ? dim - 1 - k : k) * stride;
      HostTensor before = sum;
      if (x.isFloat())
        sum.setFloat(0, sum.getFloat(0) + x.getFloat(i));
      else
        sum.setInt(0, uint64_t(sum.getInt(0)) + uint64_t(x.getInt(i)));
      result.copy(i, exclusive ? before : sum, 0);
    }
  }
  return Values{result};
}
} // namespace

void addIndexingEvaluators(EvaluateTable &table) {
  table["Gather"] = evaluateGather;
  table["GatherElements"] = evaluateGatherElements;
  table["ScatterElements"] = evaluateScatterElements;
  table["ScatterND"] = evaluateScatterND;
  table["NonZero"] = evaluateNonZero;
  table["OneHot"] = evaluateOneHot;
  table["CumSum"] = evaluateCumSum;
}

} // namespace dtc::frontend
