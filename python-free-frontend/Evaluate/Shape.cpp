//===- Shape.cpp - shape operators at import ------------------------------===//
//
// Operators that move or repeat elements, or make tensors from shapes.
//
//===----------------------------------------------------------------------===//

#include "Evaluate/Evaluator.h"
#include "Shapes/ShapeRules.h"
#include "Support/Problem.h"
#include "Support/TensorData.h"

#include <algorithm>
#include <cmath>

using namespace llvm;

namespace dtc::frontend {

namespace {
const HostTensor &in(const Call &call, unsigned i) {
  return *call.operands[i].constant;
}

Expected<Values> evaluateConstant(const Call &call) {
  const onnx::AttributeProto *value = call.attribute("value");
  if (value) {
    TensorReader reader("");
    Expected<TensorData> data = reader.read(value->t());
    if (!data)
      return data.takeError();
    if (!data->hasData)
      return problem("constant has no data");
    HostTensor tensor = toHostTensor(*data);
    return Values{tensor.dtype() == DType::F32 ? tensor.cast(call.floatType)
                                               : tensor};
  }
  if (call.attribute("value_int"))
    return Values{
        HostTensor::fromInts({call.getInt("value_int", 0)}).reshaped({})};
  if (call.attribute("value_float"))
    return Values{
        HostTensor::scalar(call.floatType, call.getFloat("value_float", 0))};
  if (auto ints = call.getInts("value_ints"))
    return Values{HostTensor::fromInts(*ints)};
  if (const auto *floats = call.attribute("value_floats")) {
    HostTensor result(call.floatType, {floats->floats_size()});
    for (int i = 0; i < floats->floats_size(); ++i)
      result.setFloat(i, floats->floats(i));
    return Values{result};
  }
  return problem("constant is neither a tensor nor a number",
                 "strings and sparse tensors are not supported");
}

Expected<Values> evaluateShape(const Call &call) {
  int64_t rank = call.rank(0);
  auto clamp = [&](int64_t bound) {
    return std::clamp<int64_t>(bound < 0 ? bound + rank : bound, 0, rank);
  };
  int64_t start = clamp(call.getInt("start", 0));
  int64_t end = clamp(call.getInt("end", rank));
  return Values{HostTensor::fromInts(
      call.shape(0).slice(start, std::max<int64_t>(end - start, 0)))};
}

Expected<Values> evaluateSize(const Call &call) {
  return Values{
      HostTensor::fromInts({numElements(call.shape(0))}).reshaped({})};
}

Expected<Values> evaluateConstantOfShape(const Call &call) {
  HostTensor fill = HostTensor::scalar(call.floatType, 0);
  if (const auto *value = call.attribute("value")) {
    TensorReader reader("");
    Expected<TensorData> data = reader.read(value->t());
    if (!data)
      return data.takeError();
    if (!data->hasData || numElements(data->shape) != 1)
      return problem("value must have one element");
    fill = toHostTensor(*data).reshaped({});
    if (fill.dtype() == DType::F32)
      fill = fill.cast(call.floatType);
  }
  std::vector<int64_t> shape = in(call, 0).toInts();
  if (Error error = requireFoldable(shape))
    return std::move(error);
  return Values{fill.broadcast(shape)};
}

template <Expected<Shape> (*rule)(const Call &)>
Expected<Values> reshapeBy(const Call &call) {
  Expected<Shape> shape = rule(call);
  if (!shape)
    return shape.takeError();
  return Values{in(call, 0).reshaped(*shape)};
}

Expected<Values> evaluateExpand(const Call &call) {
  Expected<Shape> shape = expandShape(call);
  if (!shape)
    return shape.takeError();
  if (Error error = requireFoldable(*shape))
    return std::move(error);
  return Values{in(call, 0).broadcast(*shape)};
}

Expected<Values> evaluateTile(const Call &call) {
  Expected<Shape> repeats = tileRepeats(call);
  if (!repeats)
    return repeats.takeError();
  // Split each dimension into (repetition, index). The repetition has stride 0.
  Shape pairs, strides, shape, own = rowMajorStrides(call.shape(0));
  for (int64_t d = 0; d < call.rank(0); ++d) {
    pairs.append({(*repeats)[d], call.shape(0)[d]});
    strides.append({0, own[d]});
    shape.push_back((*repeats)[d] * call.shape(0)[d]);
  }
  if (Error error = requireFoldable(shape))
    return std::move(error);
  return Values{in(call, 0).view(pairs, strides).reshaped(shape)};
}

Expected<Values> evaluateTranspose(const Call &call) {
  Expected<Shape> permutation = transposePermutation(call);
  if (!permutation)
    return permutation.takeError();
  return Values{in(call, 0).transposed(*permutation)};
}

Expected<Values> evaluateSlice(const Call &call) {
  auto ranges = sliceRanges(call);
  if (!ranges)
    return ranges.takeError();
  Shape shape(call.shape(0)), own = rowMajorStrides(shape), strides = own;
  int64_t offset = 0;
  for (const DimRange &range : *ranges) {
    shape[range.axis] = range.size;
    strides[range.axis] = own[range.axis] * range.step;
    offset += own[range.axis] * range.start;
  }
  return Values{in(call, 0).view(shape, strides, offset)};
}

Expected<Values> evaluateSplit(const Call &call) {
  auto axis = normalizeAxis(call.getInt("axis", 0), call.rank(0));
  if (!axis)
    return axis.takeError();
  auto sizes = splitSizes(call, call.shape(0)[*axis]);
  if (!sizes)
    return sizes.takeError();
  Values results;
  Shape shape(call.shape(0)), strides = rowMajorStrides(shape);
  int64_t start = 0;
  for (int64_t size : *sizes) {
    shape[*axis] = size;
    results.push_back(in(call, 0).view(shape, strides, start * strides[*axis]));
    start += size;
  }
  return results;
}

Expected<Values> evaluateConcat(const Call &call) {
  auto axis = normalizeAxis(call.getInt("axis", 0), call.rank(0));
  if (!axis)
    return axis.takeError();
  Expected<Shape> joined = concatShape(call, *axis);
  if (!joined)
    return joined.takeError();
  ArrayRef<int64_t> shape = *joined;
  if (Error error = requireFoldable(shape))
    return std::move(error);
  HostTensor result(in(call, 0).dtype(), shape);
  int64_t outer = numElements(shape.take_front(*axis));
  int64_t inner = numElements(shape.drop_front(*axis));
  int64_t start = 0;
  for (size_t k = 0; k < call.operands.size(); ++k) {
    int64_t length = numElements(call.shape(k).drop_front(*axis));
    for (int64_t i = 0; i < outer; ++i)
      for (int64_t j = 0; j < length; ++j)
        result.copy(i * inner + start + j, in(call, k), i * length + j);
    start += length;
  }
  return Values{result};
}

Expected<Values> evaluateRange(const Call &call) {
  if (Error error = call.requireScalars({0, 1, 2}))
    return std::move(error);
  const HostTensor &start = in(call, 0);
  double first = start.getFloat(0), step = in(call, 2).getFloat(0);
  if (step == 0)
    return problem("delta is 0");
  double count = std::ceil((in(call, 1).getFloat(0) - first) / step);
  if (std::isnan(count))
    return problem("start, limit or delta is not a number");
  int64_t size = std::clamp(count, 0.0, 1e15);
  if (Error error = requireFoldable({size}))
    return std::move(error);
  HostTensor result(start.dtype(), {size});
  for (int64_t i = 0; i < result.size(); ++i)
    result.setFloat(i, first + i * step);
  return Values{result};
}

Expected<Values> evaluateTrilu(const Call &call) {
  Expected<int64_t> k = triluDiagonal(call);
  if (!k)
    return k.takeError();
  bool upper = call.getInt("upper", 1);
  HostTensor result = in(call, 0);
  int64_t rows = call.shape(0).drop_back().back(),
          columns = call.shape(0).back();
  for (int64_t i = 0; i < result.size(); ++i) {
    int64_t above = i % columns - i / columns % rows - *k;
    if (upper ? above < 0 : above > 0)
      result.setFloat(i, 0);
  }
  return Values{result};
}

Expected<Values> evaluateEyeLike(const Call &call) {
  auto dtype = call.getDType("dtype", call.operands[0].dtype);
  if (!dtype)
    return dtype.takeError();
  if (call.rank(0) != 2)
    return problem("operand has rank " + Twine(call.rank(0)) + ", expected 2");
  if (Error error = requireFoldable(call.shape(0)))
    return std::move(error);
  HostTensor result(*dtype, call.shape(0));
  int64_t columns = call.shape(0)[1], k = call.getInt("k", 0);
  for (int64_t i = 0; i < result.size(); ++i)
    result.setInt(i, i % columns - i / columns == k);
  return Values{result};
}
} // namespace

void addShapeEvaluators(EvaluateTable &table) {
  table["Constant"] = evaluateConstant;
  table["Shape"] = evaluateShape;
  table["Size"] = evaluateSize;
  table["ConstantOfShape"] = evaluateConstantOfShape;
  table["Reshape"] = reshapeBy<reshapeShape>;
  table["Flatten"] = reshapeBy<flattenShape>;
  table["Squeeze"] = reshapeBy<squeezeShape>;
  table["Unsqueeze"] = reshapeBy<unsqueezeShape>;
  table["Expand"] = evaluateExpand;
  table["Tile"] = evaluateTile;
  table["Transpose"] = evaluateTranspose;
  table["Slice"] = evaluateSlice;
  table["Split"] = evaluateSplit;
  table["Concat"] = evaluateConcat;
  table["Range"] = evaluateRange;
  table["Trilu"] = evaluateTrilu;
  table["EyeLike"] = evaluateEyeLike;
}

} // namespace dtc::frontend
