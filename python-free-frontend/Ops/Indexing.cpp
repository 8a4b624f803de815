//===- Indexing.cpp - import of lookups -----------------------------------===//
//
// Lookups with one index: of rows (an embedding, or a slice if the indices are
// known), of single elements, and of one column for each index.
//
//===----------------------------------------------------------------------===//

#include "File/Annotations.h"
#include "Ops/Indices.h"
#include "Ops/Operators.h"
#include "Ops/SampleRows.h"
#include "Ops/Take.h"
#include "Shapes/ShapeRules.h"
#include "dtc/Dialect/Padding.h"

using namespace llvm;
using mlir::Value;

namespace dtc::frontend {

namespace {
/// Whether each index is one more than the index before it.
bool areConsecutive(const HostTensor &indices) {
  for (int64_t i = 1; i < indices.size(); ++i)
    if (indices.getInt(i) != indices.getInt(0) + i)
      return false;
  return indices.size() > 0;
}

/// Whether known indices can become a slice. A lookup of positions in a table
/// stays a lookup, for any number of indices.
bool takesSlice(const HostTensor &indices, Value table) {
  return (indices.rank() <= 1 || table.getDefiningOp()) &&
         areConsecutive(indices);
}

/// Marks the padding row, which torch.nn.Embedding does not train.
void markPadding(const Call &call, Value rows) {
  int64_t index = call.getInt(annotation::paddingIdx, -1);
  if (auto lookup = rows.getDefiningOp<GatherOp>(); lookup && index >= 0)
    setPadding(lookup, index);
}

Error importGather(NodeBuilder &node) {
  const Call &call = node.call;
  if (call.getInt(annotation::scaleGradByFreq, 0))
    return problem("scales gradients by the frequency of indices",
                   "export the model without scale_grad_by_freq");
  auto axis = normalizeAxis(call.getInt("axis", 0), call.rank(0));
  if (!axis)
    return axis.takeError();
  if (isFloat(call.operands[1].dtype) || call.operands[1].dtype == DType::Bool)
    return problem("indices have element type " +
                   toString(call.operands[1].dtype) + ", expected integers");
  Value table = node.operand(0);
  ArrayRef<int64_t> shape = call.shape(0), indexShape = call.shape(1);
  Shape result(shape.take_front(*axis));
  result.append(indexShape.begin(), indexShape.end());
  result.append(shape.begin() + *axis + 1, shape.end());

  if (const HostTensor *known = call.operands[1].constant) {
    auto normal = wrapIndices(*known, shape[*axis]);
    if (!normal)
      return normal.takeError();
    Value part =
        takesSlice(*normal, table)
            ? node.slice(table, *axis, normal->getInt(0), normal->size())
            : lookUp(node, table, *axis, node.constant(*normal));
    node.setResult(0, node.reshape(part, result));
    return Error::success();
  }
  Value index = node.operand(1);
  std::optional<SampleRows> ofSamples;
  if (*axis == 0 && table.getDefiningOp())
    ofSamples = findSampleRows(node, table, index);
  auto indices = ofSamples ? checkIndices(node, ofSamples->indices,
                                          node.shapeOf(ofSamples->table)[1])
                           : checkIndices(node, index, shape[*axis]);
  if (!indices)
    return indices.takeError();
  Value rows = ofSamples
                   ? node.create<GatherOp>(ofSamples->table, indices->values, 1)
                   : lookUp(node, table, *axis, indices->values);
  markPadding(call, rows);
  node.setResult(
      0, dropOutside(node, rows, indices->areInside, call.rank(0) - *axis - 1));
  return Error::success();
}

/// All dimensions except the axis are batch dimensions. If indices repeat along
/// the dimensions after the axis, whole rows are looked up.
Error importGatherElements(NodeBuilder &node) {
  const Call &call = node.call;
  int64_t rank = call.rank(0);
  auto axis = normalizeAxis(call.getInt("axis", 0), rank);
  if (!axis)
    return axis.takeError();
  ArrayRef<int64_t> shape = call.shape(1);
  if (int64_t(shape.size()) != rank)
    return problem("indices " + toString(shape) + " and data " +
                   toString(call.shape(0)) + " differ in rank");
  Value table = node.operand(0);
  for (int64_t d = 0; d < rank; ++d) {
    if (d == *axis)
      continue;
    if (shape[d] > call.shape(0)[d])
      return problem("indices " + toString(shape) + " do not fit data " +
                     toString(call.shape(0)));
    table = node.slice(table, d, 0, shape[d]);
  }
  Value repeated = getRepeated(node, node.operand(1), *axis + 1);
  auto indices = checkIndices(node, repeated ? repeated : node.operand(1),
                              call.shape(0)[*axis]);
  if (!indices)
    return indices.takeError();
  if (repeated) {
    Value rows = node.create<GatherOp>(table, indices->values, *axis);
    node.setResult(
        0, dropOutside(node, rows, indices->areInside, rank - *axis - 1));
    return Error::success();
  }
  Value found = node.create<GatherOp>(
      node.swapDims(table, *axis, rank - 1),
      node.swapDims(indices->values, *axis, rank - 1), rank - 1);
  node.setResult(0, dropOutside(node, node.swapDims(found, *axis, rank - 1),
                                indices->areInside, 0));
  return Error::success();
}

/// Builds a row of `depth` elements for each index. One element is `on`.
Error importOneHot(NodeBuilder &node) {
  const Call &call = node.call;
  auto depth = call.constant(1, "depth");
  if (!depth)
    return depth.takeError();
  auto axis = normalizeAxis(call.getInt("axis", -1), call.rank(0) + 1);
  if (!axis)
    return axis.takeError();
  if (Error error = call.requireScalars({1}))
    return error;
  if (call.shape(2) != ArrayRef<int64_t>{2})
    return problem("values have shape " + toString(call.shape(2)) +
                   ", expected [2]");
  Value indices = node.operand(0);
  if (isFloat(call.operands[0].dtype))
    indices = node.cast(indices, DType::I64);
  // Negative indices count from the end.
  Value isNegative =
      node.compare(Comparison::lt, indices, node.scalar(0, indices));
  Value wrapped = node.add(indices, node.scalar((*depth)->getInt(0), indices));
  indices = node.select(isNegative, wrapped, indices);
  Shape shape(call.shape(0));
  shape.push_back((*depth)->getInt(0));
  if (Error error = requirePossible(shape))
    return error;
  Value isOn = node.create<OneHotOp>(
      node.typeOf(shape, node.toType(DType::Bool)), indices, Value());
  Value values = node.operand(2);
  Value off = node.reshape(node.slice(values, 0, 0, 1), {});
  Value on = node.reshape(node.slice(values, 0, 1, 1), {});
  Value rows = node.select(isOn, on, off);
  Shape permutation;
  for (int64_t d = 0; d < call.rank(0); ++d)
    permutation.push_back(d);
  permutation.insert(permutation.begin() + *axis, call.rank(0));
  node.setResult(0, node.transpose(rows, permutation));
  return Error::success();
}

/// Reverses the first `length` elements of each sequence. Lengths are at most
/// the size of the time axis.
Error importReverseSequence(NodeBuilder &node) {
  const Call &call = node.call;
  int64_t timeAxis = call.getInt("time_axis", 0);
  int64_t batchAxis = call.getInt("batch_axis", 1);
  if (call.rank(0) < 2 || timeAxis + batchAxis != 1 || timeAxis * batchAxis)
    return problem("has time_axis " + Twine(timeAxis) + " and batch_axis " +
                   Twine(batchAxis) + ", expected 0 and 1 in some order");
  Shape shape(call.shape(0));
  int64_t batch = shape[batchAxis], time = shape[timeAxis];
  if (call.shape(1) != ArrayRef<int64_t>{batch})
    return problem("lengths have shape " + toString(call.shape(1)) +
                   ", expected [" + Twine(batch) + "]");
  Value x = node.swapDims(node.operand(0), 0, batchAxis);
  Value lengths = node.reshape(node.operand(1), {batch, 1});
  Value place = node.countAlong(time, 1, 2, call.operands[1].dtype);
  Value whole = node.scalar(time, place);
  lengths =
      node.select(node.compare(Comparison::lt, lengths, whole), lengths, whole);
  Value mirrored = node.sub(node.sub(lengths, place), node.scalar(1, place));
  Value isInside = node.compare(Comparison::lt, place, lengths);
  Value indices = node.select(isInside, mirrored, place);
  Value rows = node.create<GatherOp>(x, indices, /*batchDims=*/1);
  node.setResult(0, node.swapDims(rows, 0, batchAxis));
  return Error::success();
}
} // namespace

void addIndexingOperators(OperatorTable &table) {
  table.add({
      {"Gather", 1, 2, 2, "axis", importGather, second},
      {"GatherElements", 11, 2, 2, "axis", importGatherElements, second},
      {"NonZero", 9, 1, 1, "", nullptr, first},
      {"OneHot", 9, 3, 3, "axis", importOneHot, firstTwo},
      {"ReverseSequence", 10, 2, 2, "batch_axis time_axis",
       importReverseSequence, second},
  });
}

} // namespace dtc::frontend
