//===- FoldedTensor.cpp - parameters inside of computed tensors -----------===//
//
// See FoldedTensor.h.
//
//===----------------------------------------------------------------------===//

#include "FoldedTensor.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace dtc::frontend {

static StringRef getElement(StringRef bytes, int64_t i, int64_t elementSize) {
  return bytes.substr(i * elementSize, elementSize);
}

static bool isUniform(StringRef bytes, int64_t elementSize) {
  return bytes.drop_front(elementSize) == bytes.drop_back(elementSize);
}

/// Whether most elements occur several times: a few do by chance.
static bool hasDuplicates(StringRef bytes, int64_t elementSize) {
  StringSet<> elements;
  int64_t count = bytes.size() / elementSize;
  for (int64_t i = 0; i < count; ++i)
    elements.insert(getElement(bytes, i, elementSize));
  return elements.size() > 1 && 2 * int64_t(elements.size()) <= count;
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

/// Makes a table of the rows that occur.
static void collectRows(FoldedTensor &tensor, int64_t elementSize) {
  int64_t width = tensor.unrepeated.back(), rowSize = width * elementSize;
  if (isUniform(tensor.bytes, elementSize)) {
    tensor.shape = {int64_t(tensor.bytes.size()) / rowSize, width};
    return;
  }
  StringMap<int64_t> rows;
  std::string table;
  for (StringRef rest = tensor.bytes; !rest.empty();
       rest = rest.drop_front(rowSize)) {
    StringRef row = rest.take_front(rowSize);
    auto [it, isNew] = rows.try_emplace(row, rows.size());
    if (isNew)
      table += row;
    tensor.indices.push_back(it->second);
  }
  tensor.shape = {int64_t(rows.size()), width};
  if (table.size() == tensor.bytes.size())
    tensor.indices.clear();
  tensor.bytes = std::move(table);
}

std::optional<FoldedTensor> unfold(const TensorData &data, StringRef op) {
  enum Kind { Lookup, Move, Transpose, Other };
  Kind kind = StringSwitch<Kind>(op)
                  .Case("embedding", Lookup)
                  .Cases({"expand", "expand_as", "repeat", "clone"}, Move)
                  .Cases({"unsqueeze", "squeeze", "view", "reshape"}, Move)
                  .Cases({"contiguous", "_to_copy", "_unsafe_view"}, Move)
                  .Cases({"t", "transpose", "permute", "numpy_t"}, Transpose)
                  .Default(Other);
  if (kind == Other || !data.hasData || data.shape.empty() ||
      numElements(data.shape) == 0 ||
      (kind == Transpose && data.shape.size() != 2))
    return std::nullopt;
  FoldedTensor tensor;
  tensor.unrepeated = data.shape;
  tensor.bytes.assign(data.bytes.begin(), data.bytes.end());
  if (kind == Transpose) {
    tensor.shape = {data.shape[1], data.shape[0]};
    tensor.isTransposed = true;
    return tensor;
  }
  // Copies for each sample, and of other dimensions; but of equal elements it
  // is not known which are copies.
  int64_t elementSize = byteSize(data.dtype);
  for (unsigned dim = 0; dim + 1 < data.shape.size(); ++dim)
    if (dim == 0 || !isUniform(tensor.bytes, elementSize))
      dropRepeats(tensor.unrepeated, dim, tensor.bytes, elementSize);
  tensor.shape = tensor.unrepeated;
  if (op == "unsqueeze" && tensor.shape.size() > 1 && tensor.shape[0] == 1)
    tensor.shape.erase(tensor.shape.begin());
  if (kind == Lookup && data.shape.size() > 1)
    collectRows(tensor, elementSize);
  // Elements that occur again were looked up before they were moved.
  if (kind == Move && hasDuplicates(tensor.bytes, elementSize))
    return std::nullopt;
  return tensor;
}

} // namespace dtc::frontend
