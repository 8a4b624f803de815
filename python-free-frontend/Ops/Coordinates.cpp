//===- Coordinates.cpp - import of lookups with several indices -----------===//
//
// The coordinates of a lookup become one index into the joined dimensions. A
// coordinate that counts the samples of a batch (x[arange(B), position]) turns
// its dimension into a batch dimension, so that samples stay separate.
//
//===----------------------------------------------------------------------===//

#include "Ops/Indices.h"
#include "Ops/KnownValues.h"
#include "Ops/Operators.h"
#include "Ops/Take.h"
#include "Shapes/ShapeRules.h"

#include <cmath>
#include <set>

using namespace llvm;
using mlir::Value;

namespace dtc::frontend {

namespace {
/// A lookup with one index. The first `batchDims` dimensions of table and
/// indices are batch dimensions; the index is for the next dimension of the
/// table.
struct Lookup {
  /// Converts data to the table: first a permutation, then a reshape.
  Shape permutation, shape;
  Value indices;
  Value areInside; ///< whether each index is inside; null if all are
  int64_t batchDims = 0;

  int64_t size() const { return shape[batchDims]; }
  ArrayRef<int64_t> row() const {
    return ArrayRef(shape).drop_front(batchDims + 1);
  }
};

/// Computes index * size + next.
Value joinIndices(NodeBuilder &node, Value index, int64_t size, Value next) {
  std::optional<HostTensor> a = getKnownInts(index), b = getKnownInts(next);
  if (!a || !b)
    return node.add(node.mul(index, node.scalar(size, next)), next);
  for (int64_t i = 0; i < a->size(); ++i)
    b->setInt(i, a->getInt(i) * size + b->getInt(i));
  return node.constant(b->cast(fromType(node.elementType(next))));
}

/// Selects coordinate `number` of indices [..., coordinates].
Value getCoordinate(NodeBuilder &node, Value indices, int64_t number) {
  ArrayRef<int64_t> shape = node.shapeOf(indices);
  int64_t last = shape.size() - 1;
  auto join = indices.getDefiningOp<ConcatOp>();
  bool isJoined = join && int64_t(join.getAxis()) == last &&
                  int64_t(join.getParts().size()) == shape.back();
  Value column = isJoined ? Value(join.getParts()[number])
                          : node.slice(indices, last, number, 1);
  return node.reshape(column, shape.drop_back());
}

/// Converts a lookup of indices [..., coordinates] in data of a shape.
Expected<Lookup> findLookup(NodeBuilder &node, ArrayRef<int64_t> data,
                            Value indices, int64_t batchDims) {
  ArrayRef<int64_t> shape = node.shapeOf(indices);
  int64_t rank = data.size(), indexRank = shape.size() - 1;
  if (shape.empty() || shape.back() < 1 || batchDims < 0 ||
      batchDims > indexRank || batchDims + shape.back() > rank ||
      data.take_front(batchDims) != shape.take_front(batchDims))
    return problem(
        "indices " + toString(shape) + " do not fit data " + toString(data) +
        (batchDims ? " with " + Twine(batchDims) + " batch dimensions"
                   : Twine("")));
  struct Coordinate {
    Value index;
    int64_t dim;
  };
  SmallVector<Coordinate> coordinates;
  for (int64_t i = 0; i < shape.back(); ++i)
    coordinates.push_back({getCoordinate(node, indices, i), batchDims + i});

  Lookup lookup;
  for (int64_t d = 0; d < batchDims; ++d)
    lookup.permutation.push_back(d);
  // Keep at least one coordinate for the lookup.
  while (coordinates.size() > 1 && batchDims < indexRank) {
    auto *counter = find_if(coordinates, [&](const Coordinate &coordinate) {
      return data[coordinate.dim] == shape[batchDims] &&
             countsAlong(coordinate.index, batchDims);
    });
    if (counter == coordinates.end())
      break;
    lookup.permutation.push_back(counter->dim);
    coordinates.erase(counter);
    ++batchDims;
  }
  lookup.batchDims = batchDims;
  for (int64_t d : lookup.permutation)
    lookup.shape.push_back(data[d]);
  int64_t size = 1;
  for (const Coordinate &coordinate : coordinates) {
    int64_t dim = data[coordinate.dim];
    auto index =
        checkIndices(node, coordinate.index, dim, coordinates.size() > 1);
    if (!index)
      return index.takeError();
    lookup.indices = lookup.indices
                         ? joinIndices(node, lookup.indices, dim, index->values)
                         : index->values;
    if (lookup.areInside && index->areInside)
      lookup.areInside =
          node.elementwise<LogicalAndOp>({lookup.areInside, index->areInside});
    else if (index->areInside)
      lookup.areInside = index->areInside;
    lookup.permutation.push_back(coordinate.dim);
    size *= dim;
  }
  lookup.shape.push_back(size);
  for (int64_t d = 0; d < rank; ++d)
    if (!is_contained(lookup.permutation, d)) {
      lookup.permutation.push_back(d);
      lookup.shape.push_back(data[d]);
    }
  return lookup;
}

/// Whether the indices name each row of the table once, in order. So one
/// dimension counts, and all others have size 1.
bool isWhole(NodeBuilder &node, const Lookup &lookup) {
  ArrayRef<int64_t> shape = node.shapeOf(lookup.indices);
  for (int64_t d = lookup.batchDims, rank = shape.size(); d < rank; ++d)
    if (shape[d] != 1)
      return shape[d] == lookup.size() &&
             numElements(shape.drop_front(lookup.batchDims)) == shape[d] &&
             countsAlong(lookup.indices, d);
  return false;
}

Error importGatherND(NodeBuilder &node) {
  auto lookup = findLookup(node, node.call.shape(0), node.operand(1),
                           node.call.getInt("batch_dims", 0));
  if (!lookup)
    return lookup.takeError();
  Value table = node.transpose(node.operand(0), lookup->permutation);
  if (isWhole(node, *lookup)) {
    Shape shape(node.shapeOf(lookup->indices));
    shape.append(lookup->row().begin(), lookup->row().end());
    node.setResult(0, node.reshape(table, shape));
    return Error::success();
  }
  Value rows = node.create<GatherOp>(node.reshape(table, lookup->shape),
                                     lookup->indices, lookup->batchDims);
  node.setResult(
      0, dropOutside(node, rows, lookup->areInside, lookup->row().size()));
  return Error::success();
}

/// Whether the indices of each batch are distinct: there is only one, all are
/// known, or they are marked as distinct.
bool areUnique(NodeBuilder &node, const Lookup &lookup) {
  ArrayRef<int64_t> shape = node.shapeOf(lookup.indices);
  int64_t count = numElements(shape.drop_front(lookup.batchDims));
  if (count == 1 || (shape[lookup.batchDims] == count &&
                     areDistinct(lookup.indices, lookup.batchDims)))
    return true;
  std::optional<HostTensor> known = getKnownInts(lookup.indices);
  if (!known)
    return false;
  std::set<std::pair<int64_t, int64_t>> seen;
  for (int64_t i = 0; i < known->size(); ++i)
    if (!seen.insert({i / count, known->getInt(i)}).second)
      return false;
  return true;
}

/// Adds the rows of updates to zeros of the table's shape.
Value scatter(NodeBuilder &node, const Lookup &lookup, Value updates,
              ArrayRef<int64_t> row) {
  Shape shape(ArrayRef(lookup.shape).take_front(lookup.batchDims + 1));
  shape.append(row.begin(), row.end());
  return node.create<ScatterAddOp>(
      node.typeOf(shape, node.elementType(updates)), lookup.indices, updates,
      lookup.batchDims);
}

/// Lists the updates of each row of the table: [size, largest number of
/// updates]. Unused entries are the number of updates. Nothing if the indices
/// are not known, or differ between batches.
std::optional<HostTensor> listUpdates(NodeBuilder &node, const Lookup &lookup) {
  std::optional<HostTensor> known = getKnownInts(lookup.indices);
  if (!known)
    return std::nullopt;
  int64_t count =
      numElements(node.shapeOf(lookup.indices).drop_front(lookup.batchDims));
  std::vector<std::vector<int64_t>> places(lookup.size());
  size_t most = 1;
  for (int64_t i = 0; i < known->size(); ++i) {
    if (known->getInt(i) != known->getInt(i % count))
      return std::nullopt;
    if (i >= count)
      continue;
    std::vector<int64_t> &ofRow = places[known->getInt(i)];
    ofRow.push_back(i);
    most = std::max(most, ofRow.size());
  }
  HostTensor list(DType::I64, {lookup.size(), int64_t(most)});
  for (auto [row, ofRow] : enumerate(places))
    for (size_t i = 0; i < most; ++i)
      list.setInt(row * most + i, i < ofRow.size() ? ofRow[i] : count);
  return list;
}

/// The maximum of each row and its updates. Equal elements share the gradient,
/// as in PyTorch.
Expected<Value> takeLargest(NodeBuilder &node, const Lookup &lookup,
                            Value table, Value updates) {
  std::optional<HostTensor> places = listUpdates(node, lookup);
  if (!places)
    return problem("reduction 'max' or 'min' at indices that are computed, or "
                   "that differ along other dimensions, is not supported",
                   "make the indices constant");
  if (Error error = requireFoldable(places->shape()))
    return std::move(error);
  int64_t dim = lookup.batchDims;
  Shape flat(ArrayRef(lookup.shape).take_front(dim));
  flat.push_back(numElements(node.shapeOf(lookup.indices).drop_front(dim)));
  flat.append(lookup.row().begin(), lookup.row().end());
  DType dtype = fromType(node.elementType(table));
  Value all = pad(node, node.reshape(updates, flat), dim, 0, 1,
                  HostTensor::scalar(dtype, -INFINITY));
  Value found = lookUp(node, all, dim, node.constant(*places));
  Shape own(lookup.shape);
  own.insert(own.begin() + dim + 1, 1);
  Value largest = node.reduce<ReduceMaxOp>(
      join(node, {node.reshape(table, own), found}, dim + 1), {dim + 1});
  return node.reshape(largest, lookup.shape);
}

/// Adds updates to rows of the table, or replaces the rows. An outside index
/// makes a row NaN.
Expected<Value> update(NodeBuilder &node, const Lookup &lookup, Value table,
                       Value updates) {
  StringRef reduction = node.call.getString("reduction", "none");
  bool isFloatTable = isFloat(fromType(node.elementType(table)));
  if (reduction == "max" && isFloatTable)
    return takeLargest(node, lookup, table, updates);
  if (reduction == "min" && isFloatTable) {
    Expected<Value> largest =
        takeLargest(node, lookup, node.elementwise<NegOp>(table),
                    node.elementwise<NegOp>(updates));
    if (!largest)
      return largest;
    return node.elementwise<NegOp>(*largest);
  }
  if (reduction != "none" && reduction != "add")
    return problem("reduction '" + reduction + "' is not supported at run time",
                   "supported are 'none' and 'add', and for floats 'max' and "
                   "'min'");
  if (isWhole(node, lookup)) {
    updates = node.reshape(updates, lookup.shape);
    return reduction == "add" ? node.add(table, updates) : updates;
  }
  // If all values are equal, their order does not matter.
  const HostTensor *known = node.call.operands[2].constant;
  bool isUniform = known && known->compacted().size() == 1;
  if (reduction == "none" && !isUniform && !areUnique(node, lookup))
    return problem("writes values at computed indices, which may repeat",
                   "use reduction 'add', or make the indices constant");
  updates = dropOutside(node, updates, lookup.areInside, lookup.row().size());
  // Integers are added as doubles, which are exact up to 2^53.
  DType dtype = fromType(node.elementType(table));
  DType wide = isFloat(dtype) ? dtype : DType::F64;
  auto add = [&] {
    return node.cast(
        scatter(node, lookup, node.cast(updates, wide), lookup.row()), dtype);
  };
  if (reduction == "add")
    return node.add(table, add());
  Value one =
      node.broadcast(node.constant(HostTensor::scalar(node.call.floatType, 1)),
                     node.shapeOf(lookup.indices));
  Value hits =
      scatter(node, lookup, dropOutside(node, one, lookup.areInside, 0), {});
  Shape column(node.shapeOf(hits));
  column.append(lookup.row().size(), 1);
  hits = node.reshape(hits, column);
  Value zero = node.scalar(0, hits);
  Value put = isUniform ? node.constant(known->view({}, {})) : add();
  if (isUniform && lookup.areInside)
    put = dropOutside(node, put, node.compare(Comparison::ge, hits, zero), 0);
  return node.select(node.compare(Comparison::ne, hits, zero), put, table);
}

Shape invert(ArrayRef<int64_t> permutation) {
  Shape inverse(permutation.size());
  for (auto [to, from] : enumerate(permutation))
    inverse[from] = to;
  return inverse;
}

Error importScatterND(NodeBuilder &node) {
  ArrayRef<int64_t> data = node.call.shape(0), indices = node.call.shape(1);
  auto lookup = findLookup(node, data, node.operand(1), /*batchDims=*/0);
  if (!lookup)
    return lookup.takeError();
  Shape expected(indices.drop_back());
  expected.append(data.begin() + indices.back(), data.end());
  if (ArrayRef(expected) != node.call.shape(2))
    return problem("updates are " + toString(node.call.shape(2)) +
                   ", expected " + toString(expected));
  Value table = node.transpose(node.operand(0), lookup->permutation);
  Shape moved(node.shapeOf(table));
  Expected<Value> result = update(
      node, *lookup, node.reshape(table, lookup->shape), node.operand(2));
  if (!result)
    return result.takeError();
  node.setResult(0, node.transpose(node.reshape(*result, moved),
                                   invert(lookup->permutation)));
  return Error::success();
}

/// All dimensions except the axis are batch dimensions.
Error importScatterElements(NodeBuilder &node) {
  const Call &call = node.call;
  int64_t rank = call.rank(0);
  auto axis = normalizeAxis(call.getInt("axis", 0), rank);
  if (!axis)
    return axis.takeError();
  if (call.shape(1) != call.shape(2) || call.rank(1) != rank)
    return problem("indices " + toString(call.shape(1)) + " and updates " +
                   toString(call.shape(2)) + " do not fit data " +
                   toString(call.shape(0)));
  for (int64_t d = 0; d < rank; ++d)
    if (d != *axis && call.shape(1)[d] != call.shape(0)[d])
      return problem("indices " + toString(call.shape(1)) +
                         " cover only a part of the data " +
                         toString(call.shape(0)),
                     "slice the data in the model");
  auto toLast = [&](Value x) { return node.swapDims(x, *axis, rank - 1); };
  Lookup lookup;
  Value table = toLast(node.operand(0));
  lookup.shape = Shape(node.shapeOf(table));
  lookup.batchDims = rank - 1;
  auto indices =
      checkIndices(node, toLast(node.operand(1)), lookup.shape.back());
  if (!indices)
    return indices.takeError();
  lookup.indices = indices->values;
  lookup.areInside = indices->areInside;
  Expected<Value> result = update(node, lookup, table, toLast(node.operand(2)));
  if (!result)
    return result.takeError();
  node.setResult(0, toLast(*result));
  return Error::success();
}
} // namespace

void addCoordinateOperators(OperatorTable &table) {
  table.add({
      {"GatherND", 11, 2, 2, "batch_dims", importGatherND, second},
      {"ScatterND", 11, 3, 3, "reduction", importScatterND, second},
      {"ScatterElements", 11, 3, 3, "axis reduction", importScatterElements,
       second},
  });
}

} // namespace dtc::frontend
