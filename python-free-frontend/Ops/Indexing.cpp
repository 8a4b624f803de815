//===- Indexing.cpp - import of lookups -----------------------------------===//
//
// Gather: an embedding lookup, or a slice when the indices are known.
//
//===----------------------------------------------------------------------===//

#include "Operators.h"
#include "ShapeRules.h"

using namespace llvm;
using mlir::Value;

namespace dtc::frontend {

namespace {
/// Non-negative indices, or an error for one outside the dimension.
Expected<HostTensor> normalizeIndices(const HostTensor &indices, int64_t dim) {
  HostTensor result = indices;
  for (int64_t i = 0; i < result.size(); ++i) {
    int64_t index = result.getInt(i);
    if (index < -dim || index >= dim)
      return problem("index " + Twine(index) + " is outside a dimension of " +
                     Twine(dim));
    result.setInt(i, index < 0 ? index + dim : index);
  }
  return result;
}

/// Whether indices count up by one.
bool areConsecutive(const HostTensor &indices) {
  for (int64_t i = 1; i < indices.size(); ++i)
    if (indices.getInt(i) != indices.getInt(0) + i)
      return false;
  return indices.rank() <= 1 && indices.size() > 0;
}

Error importGather(NodeBuilder &node) {
  const Call &call = node.call;
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

  Value indices;
  if (const HostTensor *known = call.operands[1].constant) {
    auto normal = normalizeIndices(*known, shape[*axis]);
    if (!normal)
      return normal.takeError();
    if (areConsecutive(*normal)) {
      Value part = node.slice(table, *axis, normal->getInt(0), normal->size());
      node.setResult(0, node.reshape(part, result));
      return Error::success();
    }
    indices = node.constant(*normal);
  } else {
    indices = node.operand(1);
  }

  // The axis goes to the front, the dimensions before it come back after the
  // lookup.
  Shape toFront{*axis}, back;
  for (int64_t d = 0; d < call.rank(0); ++d)
    if (d != *axis)
      toFront.push_back(d);
  int64_t indexRank = indexShape.size();
  for (int64_t d = 0; d < *axis; ++d)
    back.push_back(indexRank + d);
  for (int64_t d = 0; d < indexRank; ++d)
    back.push_back(d);
  for (int64_t d = *axis; d < call.rank(0) - 1; ++d)
    back.push_back(indexRank + d);
  Value rows = node.create<GatherOp>(node.transpose(table, toFront), indices);
  node.setResult(0, node.transpose(rows, back));
  return Error::success();
}
} // namespace

void addIndexingOperators(OperatorTable &table) {
  table.add({
      {"Gather", 1, 2, 2, "axis", importGather, second},
      {"GatherElements", 11, 2, 2, "axis", nullptr, second},
      {"ScatterND", 11, 3, 3, "reduction", nullptr, second},
      {"NonZero", 9, 1, 1, "", nullptr, first},
      {"CumSum", 11, 2, 2, "exclusive reverse", nullptr, second},
  });
}

} // namespace dtc::frontend
