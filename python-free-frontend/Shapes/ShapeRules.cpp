//===- ShapeRules.cpp - ONNX's rules for shapes and ranges ----------------===//
//
// Each function has the rule of one operator in all supported opsets.
//
//===----------------------------------------------------------------------===//

#include "Shapes/ShapeRules.h"
#include "File/Annotations.h"
#include "Support/Problem.h"

#include "dtc/Support/MaxElements.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CheckedArithmetic.h"

#include <algorithm>

using namespace llvm;

namespace dtc::frontend {

Error requirePossible(ArrayRef<int64_t> shape) {
  if (any_of(shape, [](int64_t dim) { return dim < 0 || dim > maxElements; }) ||
      numElements(shape) > maxElements)
    return problem("shape " + toString(shape) +
                   " is impossible, expected at most 2^48 elements");
  return Error::success();
}

Error requireFoldable(ArrayRef<int64_t> shape) {
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
  constexpr int64_t limit = int64_t(1) << 12; // a fuzzer tries many models
#else
  constexpr int64_t limit = int64_t(1) << 28;
#endif
  int64_t count = 1;
  for (int64_t dim : shape) {
    if (dim < 0)
      return problem("shape " + toString(shape) + " has a negative dimension");
    if (dim > limit || (count *= std::max<int64_t>(dim, 1)) > limit)
      return problem("constant of shape " + toString(shape) +
                         " is too large, at most 2^28 elements are computed "
                         "at import",
                     "make it an input of the model");
  }
  return Error::success();
}

bool isLargeMask(const Call &call, bool isElementwise) {
  constexpr int64_t limit = int64_t(1) << 25; // FormAttention evaluates as many
  StringRef op = call.node.op_type();
  Shape shape;
  auto join = [&](Expected<Shape> other) {
    if (other)
      shape = std::move(*other);
    else
      consumeError(other.takeError());
  };
  if (op == "Expand")
    join(expandShape(call));
  else if (op == "Trilu")
    shape = Shape(call.shape(0));
  else if (isElementwise)
    for (unsigned i = 0; i < call.operands.size(); ++i)
      if (call.hasOperand(i))
        join(broadcastShapes(shape, call.shape(i)));
  bool isRepeated = op == "Trilu" || all_of(call.operands, [&](auto &operand) {
                      return !operand.present || Shape(operand.shape) != shape;
                    });
  constexpr int64_t mostMatrices = 1024; // samples and heads
  return isRepeated && shape.size() >= 2 && numElements(shape) > limit &&
         numElements(ArrayRef(shape).drop_back(2)) <= mostMatrices;
}

Expected<int64_t> normalizeAxis(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank)
    return problem("axis " + Twine(axis) + " does not exist in a tensor of " +
                   "rank " + Twine(rank));
  return axis < 0 ? axis + rank : axis;
}

Expected<Shape> normalizeAxes(ArrayRef<int64_t> axes, int64_t rank) {
  Shape result;
  for (int64_t axis : axes) {
    Expected<int64_t> normal = normalizeAxis(axis, rank);
    if (!normal)
      return normal.takeError();
    result.push_back(*normal);
  }
  llvm::sort(result);
  if (std::adjacent_find(result.begin(), result.end()) != result.end())
    return problem("an axis is given twice");
  return result;
}

Expected<int64_t> normalizeIndex(int64_t index, int64_t dim) {
  if (index < -dim || index >= dim)
    return problem("index " + Twine(index) + " is outside a dimension of " +
                   Twine(dim));
  return index < 0 ? index + dim : index;
}

Expected<Shape> broadcastShapes(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  if (a.size() < b.size())
    std::swap(a, b);
  Shape result(a);
  size_t lead = a.size() - b.size();
  for (size_t d = 0; d < b.size(); ++d) {
    int64_t &dim = result[lead + d];
    if (dim == 1)
      dim = b[d];
    else if (b[d] != 1 && b[d] != dim)
      return problem("shapes " + toString(a) + " and " + toString(b) +
                     " do not broadcast");
  }
  return result;
}

Expected<Shape> broadcastOperands(const Call &call) {
  Shape result;
  for (const Operand &operand : call.operands) {
    Expected<Shape> next = broadcastShapes(result, operand.shape);
    if (!next)
      return next.takeError();
    result = *next;
  }
  return result;
}

Expected<Shape> reshapeShape(const Call &call) {
  auto target = call.constant(1, "shape");
  if (!target)
    return target.takeError();
  bool zeroIsZero = call.getInt("allowzero", 0);
  Shape result;
  Shape known;
  int64_t count = numElements(call.shape(0));
  int64_t inferred = -1;
  for (auto [d, dim] : enumerate((*target)->toInts())) {
    if (dim == 0 && !zeroIsZero) {
      if (int64_t(d) >= call.rank(0))
        return problem("shape " + toString((*target)->toInts()) +
                       " copies a dimension that the operand " +
                       toString(call.shape(0)) + " does not have");
      dim = call.shape(0)[d];
    }
    if (dim == -1 && inferred < 0)
      inferred = d;
    else if (dim < 0)
      return problem("shape " + toString((*target)->toInts()) +
                     " is not valid");
    else
      known.push_back(dim);
    result.push_back(dim);
  }
  int64_t product = numElements(known);
  if (inferred >= 0) {
    if (product == 0 || count % product)
      return problem(toString(call.shape(0)) + " does not reshape to " +
                         toString(result),
                     "was the model exported for another batch size?");
    result[inferred] = count / product;
  } else if (product != count) {
    return problem(toString(call.shape(0)) + " does not reshape to " +
                       toString(result),
                   "was the model exported for another batch size?");
  }
  return result;
}

Expected<Shape> flattenShape(const Call &call) {
  int64_t rank = call.rank(0), axis = call.getInt("axis", 1);
  if (axis < -rank || axis > rank)
    return problem("axis " + Twine(axis) + " does not exist in a tensor of " +
                   "rank " + Twine(rank));
  if (axis < 0)
    axis += rank;
  return Shape{numElements(call.shape(0).take_front(axis)),
               numElements(call.shape(0).drop_front(axis))};
}

Expected<Shape> squeezeShape(const Call &call) {
  auto given = call.getIntsOrOperand("axes", 1);
  if (!given)
    return given.takeError();
  Shape axes;
  if (*given) {
    auto normal = normalizeAxes(**given, call.rank(0));
    if (!normal)
      return normal.takeError();
    axes = *normal;
  } else {
    for (auto [d, dim] : enumerate(call.shape(0)))
      if (dim == 1)
        axes.push_back(d);
  }
  // PyTorch keeps a dimension whose size is not 1.
  bool leavesOthers = call.getInt(annotation::keepOtherSizes, 0);
  Shape result;
  for (auto [d, dim] : enumerate(call.shape(0))) {
    if (!is_contained(axes, int64_t(d)) || (leavesOthers && dim != 1))
      result.push_back(dim);
    else if (dim != 1)
      return problem("dimension " + Twine(d) + " of " +
                     toString(call.shape(0)) + " does not have size 1");
  }
  return result;
}

Expected<Shape> unsqueezeShape(const Call &call) {
  auto given = call.getIntsOrOperand("axes", 1);
  if (!given)
    return given.takeError();
  if (!*given)
    return problem("operand 'axes' is missing");
  auto axes = normalizeAxes(**given, call.rank(0) + (*given)->size());
  if (!axes)
    return axes.takeError();
  Shape result(call.shape(0));
  for (int64_t axis : *axes)
    result.insert(result.begin() + axis, 1);
  return result;
}

Expected<Shape> expandShape(const Call &call) {
  auto target = call.constant(1, "shape");
  if (!target)
    return target.takeError();
  std::vector<int64_t> shape = (*target)->toInts();
  if (Error error = requirePossible(shape))
    return std::move(error);
  return broadcastShapes(call.shape(0), shape);
}

Expected<Shape> transposePermutation(const Call &call) {
  Shape permutation;
  if (auto given = call.getInts("perm")) {
    permutation.assign(given->begin(), given->end());
  } else {
    for (int64_t d = call.rank(0); d-- > 0;)
      permutation.push_back(d);
  }
  Shape sorted = permutation;
  llvm::sort(sorted);
  for (auto [d, axis] : enumerate(sorted))
    if (axis != int64_t(d) || int64_t(sorted.size()) != call.rank(0))
      return problem("perm " + toString(permutation) +
                     " is not a permutation of the dimensions of " +
                     toString(call.shape(0)));
  if (int64_t(permutation.size()) != call.rank(0))
    return problem("perm is empty, the operand is " + toString(call.shape(0)));
  return permutation;
}

Expected<SmallVector<DimRange>> sliceRanges(const Call &call) {
  // Before opset 10 all settings are attributes.
  std::vector<int64_t> starts, ends;
  for (auto [i, name, ints] :
       {std::tuple(1, "starts", &starts), std::tuple(2, "ends", &ends)}) {
    auto given = call.getIntsOrOperand(name, i);
    if (!given)
      return given.takeError();
    if (!*given)
      return problem(Twine("operand '") + name + "' is missing");
    *ints = **given;
  }
  int64_t count = starts.size();
  std::vector<int64_t> axes(count), steps(count, 1);
  for (int64_t i = 0; i < count; ++i)
    axes[i] = i;
  auto givenAxes = call.getIntsOrOperand("axes", 3);
  if (!givenAxes)
    return givenAxes.takeError();
  if (*givenAxes)
    axes = **givenAxes;
  auto givenSteps = call.getIntsOrOperand("steps", 4);
  if (!givenSteps)
    return givenSteps.takeError();
  if (*givenSteps)
    steps = **givenSteps;
  if (int64_t(ends.size()) != count || int64_t(axes.size()) != count ||
      int64_t(steps.size()) != count)
    return problem("starts, ends, axes and steps differ in length");
  SmallVector<DimRange> ranges;
  for (int64_t i = 0; i < count; ++i) {
    auto axis = normalizeAxis(axes[i], call.rank(0));
    if (!axis)
      return axis.takeError();
    if (any_of(ranges, [&](const DimRange &r) { return r.axis == *axis; }))
      return problem("axis " + Twine(*axis) + " is given twice");
    int64_t dim = call.shape(0)[*axis], step = steps[i];
    if (step == 0)
      return problem("a step is 0");
    auto clamp = [&](int64_t bound) {
      if (bound < 0)
        bound += dim;
      return step > 0 ? std::clamp<int64_t>(bound, 0, dim)
                      : std::clamp<int64_t>(bound, -1, dim - 1);
    };
    int64_t start = clamp(starts[i]);
    int64_t end = clamp(ends[i]);
    // A start before the first element means the first element.
    if (step < 0)
      start = std::max<int64_t>(start, 0);
    // Steps may have any int64_t value.
    int64_t distance = step > 0 ? end - start : start - end;
    int64_t between = distance > 0 ? (distance - 1) / step : 0;
    int64_t size = distance > 0 ? std::abs(between) + 1 : 0;
    ranges.push_back({*axis, start, size > 1 ? step : 1, size});
  }
  return ranges;
}

Expected<Shape> concatShape(const Call &call, int64_t axis) {
  Shape shape(call.shape(0));
  for (size_t k = 1; k < call.operands.size(); ++k) {
    Shape other(call.shape(k));
    bool agree = other.size() == shape.size();
    if (agree) {
      shape[axis] += other[axis];
      other[axis] = shape[axis];
      agree = other == shape;
    }
    if (Error error = requirePossible(shape))
      return std::move(error);
    if (!agree)
      return problem("cannot concatenate " + toString(call.shape(0)) + " and " +
                     toString(call.shape(k)) + " along axis " + Twine(axis));
  }
  return shape;
}

Expected<Shape> splitSizes(const Call &call, int64_t dim) {
  auto given = call.getIntsOrOperand("split", 1);
  if (!given)
    return given.takeError();
  int64_t parts = call.node.output_size();
  Shape sizes;
  if (*given) {
    sizes.assign((*given)->begin(), (*given)->end());
  } else {
    int64_t chunk = (dim + parts - 1) / parts;
    for (int64_t i = 0; i < parts; ++i)
      sizes.push_back(std::clamp<int64_t>(dim - i * chunk, 0, chunk));
  }
  int64_t rest = dim;
  bool fits = int64_t(sizes.size()) == parts;
  for (int64_t size : sizes) {
    fits = fits && size >= 0 && size <= rest;
    if (fits)
      rest -= size;
  }
  if (!fits || rest != 0)
    return problem("sizes " + toString(sizes) + " do not split " + Twine(dim) +
                   " into " + Twine(parts) + " parts");
  return sizes;
}

Expected<int64_t> triluDiagonal(const Call &call) {
  if (call.rank(0) < 2)
    return problem("operand has rank " + Twine(call.rank(0)) +
                   ", expected at least 2");
  int64_t k = 0;
  if (call.hasOperand(1)) {
    auto given = call.constant(1, "k");
    if (!given)
      return given.takeError();
    if (Error error = call.requireScalars({1}))
      return std::move(error);
    k = (*given)->getInt(0);
  }
  ArrayRef<int64_t> shape = call.shape(0).take_back(2);
  return std::clamp(k, -shape[0], shape[1]);
}

Expected<Shape> tileRepeats(const Call &call) {
  auto repeats = call.constant(1, "repeats");
  if (!repeats)
    return repeats.takeError();
  if ((*repeats)->size() != call.rank(0))
    return problem("repeats has " + Twine((*repeats)->size()) +
                   " elements, expected " + Twine(call.rank(0)));
  std::vector<int64_t> values = (*repeats)->toInts();
  Shape result;
  for (auto [repeat, dim] : zip(values, call.shape(0)))
    result.push_back(checkedMul(repeat, dim).value_or(-1));
  if (Error error = requirePossible(result)) {
    consumeError(std::move(error));
    return problem("repeats " + toString(values) + " of " +
                   toString(call.shape(0)) +
                   " are impossible, expected at most 2^48 elements");
  }
  return Shape(values.begin(), values.end());
}

Expected<Reduction> reduction(const Call &call) {
  auto given = call.getIntsOrOperand("axes", 1);
  if (!given)
    return given.takeError();
  Reduction result;
  bool all = !*given || (*given)->empty();
  if (!all) {
    auto axes = normalizeAxes(**given, call.rank(0));
    if (!axes)
      return axes.takeError();
    result.axes = *axes;
  } else if (!call.getInt("noop_with_empty_axes", 0)) {
    for (int64_t d = 0; d < call.rank(0); ++d)
      result.axes.push_back(d);
  }
  bool keep = call.getInt("keepdims", 1);
  for (auto [d, dim] : enumerate(call.shape(0))) {
    bool reduced = is_contained(result.axes, int64_t(d));
    result.keptShape.push_back(reduced ? 1 : dim);
    if (!reduced || keep)
      result.shape.push_back(reduced ? 1 : dim);
  }
  return result;
}

} // namespace dtc::frontend
