//===- RecordedSteps.cpp - what the exporter did to a parameter -----------===//
//
// See RecordedSteps.h.
//
//===----------------------------------------------------------------------===//

#include "Exporters/Dynamo/RecordedSteps.h"
#include "Exporters/Dynamo/CallTable.h"
#include "Support/Fingerprint.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

#include <algorithm>
#include <cstring>

using namespace llvm;

namespace dtc::frontend {

bool isArithmetic(StringRef step) {
  StringRef op = dropNumber(step);
  bool isScale = getKind(step) == CallKind::Scale && op != "rsub";
  return op != "val" && !isMove(step) && !isCreation(step) && !isScale;
}

std::optional<RecordedSteps> readSteps(StringRef call,
                                       ArrayRef<StringRef> names) {
  RecordedSteps steps;
  SmallVector<StringRef> calls(names);
  bool hasPositions = false;
  calls.push_back(call);
  for (StringRef name : calls) {
    StringRef op = dropNumber(name);
    CallKind kind = getKind(name);
    if (auto function = findFunction(op)) {
      steps.functions.push_back(*function);
    } else if (op == "unsqueeze") {
      ++steps.inserted;
    } else if (op == "squeeze") {
      --steps.inserted;
      steps.isSqueezed = true;
    } else if (op == "expand" || op == "expand_as") {
      steps.isExpanded = true;
    } else if (op == "slice") {
      steps.isSliced = true;
    } else if (isCreation(name)) {
      hasPositions |= !name.starts_with("scalar_tensor");
    } else if (op != "val" && kind != CallKind::Copy) {
      return std::nullopt;
    }
  }
  // The order is unknown, except that a function may be known as the last call.
  size_t count = steps.functions.size();
  steps.isOrdered = count < 2 || (count == 2 && findFunction(dropNumber(call)));
  // A function may be of positions.
  if (steps.inserted < 0 || (hasPositions && count > 0))
    return std::nullopt;
  return steps;
}

template <typename T>
static void undoElements(const Term &function, std::string &bytes) {
  for (size_t at = 0; at < bytes.size(); at += sizeof(T)) {
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof(T));
    value = T(function.undo(value));
    std::memcpy(bytes.data() + at, &value, sizeof(T));
  }
}

std::optional<std::string> undoAll(ArrayRef<Term> functions,
                                   const TensorData &data) {
  std::string bytes(data.bytes.begin(), data.bytes.end());
  for (const Term &function : reverse(functions))
    data.dtype == DType::F64 ? undoElements<double>(function, bytes)
                             : undoElements<float>(function, bytes);
  TensorData undone = data;
  undone.bytes = ArrayRef(bytes.data(), bytes.size());
  if (Fingerprint print = fingerprint(undone); print.huge || print.hasNan)
    return std::nullopt;
  return bytes;
}

/// Whether copies can lie along dimension 0 alone: of elements that differ,
/// those along the last dimension and of the rows in between do, too; of equal
/// ones there are no rows in between.
static bool isOnlyOfSamples(const TensorData &data) {
  ArrayRef<int64_t> shape = data.shape;
  if (shape.size() < 2)
    return false;
  if (isUniform(data))
    return all_of(shape.drop_front().drop_back(),
                  [](int64_t size) { return size == 1; });
  int64_t width = byteSize(data.dtype), row = shape.back() * width;
  StringRef bytes(data.bytes.data(), numElements(shape.drop_front()) * width);
  StringSet<> rows;
  bool differs = shape.back() == 1;
  for (size_t start = 0; start < bytes.size(); start += row) {
    differs |= !isUniform(bytes.substr(start, row), width);
    if (!rows.insert(bytes.substr(start, row)).second)
      return false;
  }
  return differs;
}

/// Drops so many dimensions of 1, the first in front. False if there are fewer.
static bool dropOnes(Shape &shape, int count) {
  erase_if(shape, [&](int64_t size) { return size == 1 && count-- > 0; });
  return count <= 0;
}

std::optional<UndoneSteps> undoSteps(const RecordedSteps &steps,
                                     const TensorData &data) {
  if (steps.functions.size() > 2 || numElements(data.shape) == 0)
    return std::nullopt;
  UndoneSteps result;
  result.terms = steps.functions;
  std::optional<std::string> bytes = undoAll(result.terms, data);
  if (!steps.isOrdered) {
    std::vector<Term> turned(result.terms.rbegin(), result.terms.rend());
    std::optional<std::string> other = undoAll(turned, data);
    if (bytes && other)
      return std::nullopt;
    if (other) {
      bytes = std::move(other);
      result.terms = std::move(turned);
    }
  }
  if (!bytes)
    return std::nullopt;
  result.parameter.bytes = std::move(*bytes);
  ParameterView &parameter = result.parameter;
  parameter.unrepeated = parameter.shape = data.shape;
  if (steps.isExpanded) {
    result.isSure = isOnlyOfSamples(data);
    dropCopies(parameter, /*sampleDim=*/0, byteSize(data.dtype));
  }
  // The choice of the inserted ones makes no difference if they are adjacent.
  Shape right = parameter.shape;
  std::reverse(right.begin(), right.end());
  dropOnes(right, steps.inserted);
  std::reverse(right.begin(), right.end());
  bool areDropped = dropOnes(parameter.shape, steps.inserted);
  result.isSure &= areDropped && right == parameter.shape && !steps.isSqueezed;
  return result;
}

} // namespace dtc::frontend
