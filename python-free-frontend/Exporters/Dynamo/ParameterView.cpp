//===- ParameterView.cpp - parameters inside of computed tensors ----------===//
//
// See ParameterView.h.
//
//===----------------------------------------------------------------------===//

#include "Exporters/Dynamo/ParameterView.h"
#include "Exporters/Dynamo/CallTable.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace llvm;

namespace dtc::frontend {

bool isUniform(StringRef bytes, int64_t elementSize) {
  return bytes.drop_front(elementSize) == bytes.drop_back(elementSize);
}

bool isUniform(const TensorData &data) {
  return isUniform(StringRef(data.bytes.data(), data.bytes.size()),
                   byteSize(data.dtype));
}

/// Keeps the first of the slices of a dimension if they are all equal.
static void dropRepeats(Shape &shape, unsigned dim, std::string &bytes,
                        int64_t elementSize) {
  int64_t inner =
      elementSize * numElements(ArrayRef(shape).drop_front(dim + 1));
  int64_t block = inner * shape[dim];
  if (shape[dim] <= 1 || block == 0)
    return;
  for (size_t start = 0; start < bytes.size(); start += block)
    for (int64_t i = 1; i < shape[dim]; ++i)
      if (bytes.compare(start + i * inner, inner, bytes, start, inner) != 0)
        return;
  std::string kept;
  for (size_t start = 0; start < bytes.size(); start += block)
    kept.append(bytes, start, inner);
  bytes = std::move(kept);
  shape[dim] = 1;
}

void dropCopies(ParameterView &tensor, int sampleDim, int64_t elementSize) {
  for (unsigned dim = 0; dim + 1 < tensor.unrepeated.size(); ++dim)
    if (int(dim) == sampleDim || !isUniform(tensor.bytes, elementSize))
      dropRepeats(tensor.unrepeated, dim, tensor.bytes, elementSize);
  tensor.shape = tensor.unrepeated;
}

namespace {
/// The different rows that lie along a dimension.
struct Rows {
  unsigned dim = 0;
  std::string table;
  int64_t count = 0;
  /// By place in the other dimensions.
  std::vector<int64_t> indices;
};
} // namespace

/// Nothing if the table has more bytes than `most`.
static std::optional<Rows> collectRows(const ParameterView &tensor,
                                       unsigned dim, int64_t elementSize,
                                       size_t most) {
  Rows rows;
  rows.dim = dim;
  ArrayRef<int64_t> shape = tensor.unrepeated;
  int64_t width = shape[dim], inner = numElements(shape.drop_front(dim + 1));
  StringMap<int64_t> numbers;
  for (int64_t start = 0; start < int64_t(tensor.bytes.size());
       start += width * inner * elementSize)
    for (int64_t i = 0; i < inner; ++i) {
      std::string row;
      for (int64_t k = 0; k < width; ++k)
        row.append(tensor.bytes, start + (k * inner + i) * elementSize,
                   elementSize);
      auto [it, isNew] = numbers.try_emplace(row, rows.count);
      if (isNew) {
        rows.table += row;
        ++rows.count;
        if (rows.table.size() > most)
          return std::nullopt;
      }
      rows.indices.push_back(it->second);
    }
  return rows;
}

/// Makes the tensor a table of the rows that occur. `isLookup`: rows along the
/// last dimension; else they lie along the dimension in which fewest elements
/// make up the tensor, and occur twice on average: a few are equal by chance.
static void findTable(ParameterView &tensor, bool isLookup,
                      int64_t elementSize) {
  unsigned last = tensor.unrepeated.size() - 1;
  if (isUniform(tensor.bytes, elementSize)) {
    if (isLookup)
      tensor.shape = {int64_t(tensor.bytes.size()) / elementSize /
                          tensor.unrepeated[last],
                      tensor.unrepeated[last]};
    return;
  }
  size_t most = isLookup ? tensor.bytes.size() : tensor.bytes.size() / 2;
  std::optional<Rows> best;
  for (unsigned dim = isLookup ? last : 0; dim <= last; ++dim) {
    if (tensor.unrepeated[dim] == 1 && !isLookup)
      continue;
    std::optional<Rows> rows = collectRows(tensor, dim, elementSize, most);
    if (rows && (!best || rows->table.size() < best->table.size()))
      best = std::move(rows);
  }
  if (!best)
    return;
  bool isOrdered = best->count == int64_t(best->indices.size());
  tensor.rowDim = best->dim;
  tensor.shape = {best->count, tensor.unrepeated[best->dim]};
  tensor.bytes = std::move(best->table);
  if (!isOrdered)
    tensor.indices = std::move(best->indices);
}

std::optional<ParameterView> findView(const TensorData &data, StringRef op,
                                      int64_t batch) {
  CallKind kind = getKind(op);
  bool isLookup = op == "embedding", isBias = op == "linear";
  if (!(isLookup || isBias || kind == CallKind::Copy ||
        kind == CallKind::Repeat || kind == CallKind::Reshape ||
        kind == CallKind::Permute) ||
      !data.hasData || data.shape.empty() || numElements(data.shape) == 0)
    return std::nullopt;
  ParameterView tensor;
  tensor.unrepeated = data.shape;
  tensor.bytes.assign(data.bytes.begin(), data.bytes.end());
  if (kind == CallKind::Permute && data.shape.size() == 2) {
    tensor.shape = {data.shape[1], data.shape[0]};
    tensor.isTransposed = true;
    return tensor;
  }
  int64_t elementSize = byteSize(data.dtype);
  int sampleDim = kind == CallKind::Reshape ? -1 : 0;
  if (kind == CallKind::Permute)
    sampleDim = count(data.shape, batch) == 1
                    ? find(data.shape, batch) - data.shape.begin()
                    : -1;
  dropCopies(tensor, sampleDim, elementSize);
  if (isBias) {
    tensor.shape = {data.shape.back()};
    if (numElements(tensor.unrepeated) != data.shape.back())
      return std::nullopt;
    return tensor;
  }
  // A vector that was to be broadcast, and a table of all positions.
  if (kind == CallKind::Reshape &&
      llvm::count(data.shape, 1) + 1 == int(data.shape.size()))
    tensor.shape = {numElements(data.shape)};
  else if (op == "unsqueeze" && tensor.shape[0] == 1)
    tensor.shape.erase(tensor.shape.begin());
  bool isTimeMajor = data.shape.size() == 3 && op == "transpose" &&
                     data.shape[1] == batch && tensor.shape[1] == 1;
  if (isTimeMajor)
    std::swap(tensor.shape[0], tensor.shape[1]);
  if (data.shape.size() > 1)
    findTable(tensor, isLookup, elementSize);
  // Else it is not known which dimensions changed places.
  if (kind == CallKind::Permute && !isTimeMajor && tensor.indices.empty())
    return std::nullopt;
  return tensor;
}

} // namespace dtc::frontend
