//===- FoldedSteps.cpp - what an exporter did to a parameter --------------===//
//
// See FoldedSteps.h.
//
//===----------------------------------------------------------------------===//

#include "FoldedSteps.h"
#include "CallKinds.h"
#include "Fingerprint.h"
#include "Provenance.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <cstring>

using namespace llvm;

namespace dtc::frontend {

std::optional<FoldedSteps> readSteps(StringRef call,
                                     ArrayRef<StringRef> names) {
  enum Kind { Number, Same, Insert, Remove, Repeat, Slice, Add, Other };
  FoldedSteps steps;
  SmallVector<StringRef> calls(names);
  calls.push_back(call);
  for (StringRef name : calls) {
    StringRef stem = getStem(name);
    if (auto function = findFunction(stem)) {
      steps.functions.push_back(*function);
      continue;
    }
    Kind kind = StringSwitch<Kind>(stem)
                    .Case("val", Number)
                    .Cases({"alias", "clone", "contiguous"}, Same)
                    .Cases({"to", "_to_copy", "type_as"}, Same)
                    .Case("unsqueeze", Insert)
                    .Case("squeeze", Remove)
                    .Cases({"expand", "expand_as"}, Repeat)
                    .Case("slice", Slice)
                    .Case("add", Add)
                    .Default(isCreation(name) ? Number : Other);
    if (kind == Other)
      return std::nullopt;
    steps.inserted += (kind == Insert) - (kind == Remove);
    steps.isRepeated |= kind == Repeat;
    steps.isSliced |= kind == Slice;
    if (kind != Add)
      continue;
    // A second one may add anything.
    if (steps.addsNumber)
      return std::nullopt;
    steps.addsNumber = true;
    steps.functions.push_back({SourceTerm::AddConstant, 1});
  }
  if (steps.inserted < 0)
    return std::nullopt;
  // That the last call is a function is all that is known of the order.
  StringRef last = getStem(call);
  bool isLast = findFunction(last) || last == "add";
  steps.isOrdered =
      steps.functions.size() < 2 || (steps.functions.size() == 2 && isLast);
  return steps;
}

template <typename T>
static void undoElements(const SourceTerm &function, std::string &bytes) {
  for (size_t at = 0; at < bytes.size(); at += sizeof(T)) {
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof(T));
    value = T(function.undo(value));
    std::memcpy(bytes.data() + at, &value, sizeof(T));
  }
}

std::optional<std::string> undoAll(ArrayRef<SourceTerm> functions,
                                   const TensorData &data) {
  std::string bytes(data.bytes.begin(), data.bytes.end());
  for (const SourceTerm &function : reverse(functions))
    data.dtype == DType::F64 ? undoElements<double>(function, bytes)
                             : undoElements<float>(function, bytes);
  TensorData undone = data;
  undone.bytes = ArrayRef(bytes.data(), bytes.size());
  if (fingerprint(undone).huge)
    return std::nullopt;
  return bytes;
}

std::optional<UnfoldedSteps> undoSteps(const FoldedSteps &steps,
                                       const TensorData &data) {
  if (steps.functions.size() > 2)
    return std::nullopt;
  UnfoldedSteps result;
  result.terms = steps.functions;
  std::optional<std::string> bytes = undoAll(result.terms, data);
  if (!steps.isOrdered) {
    std::vector<SourceTerm> turned(result.terms.rbegin(), result.terms.rend());
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
  result.parameter.unrepeated = result.parameter.shape = data.shape;
  if (steps.isRepeated)
    dropCopies(result.parameter, /*sampleDim=*/0, byteSize(data.dtype));
  int inserted = steps.inserted;
  erase_if(result.parameter.shape,
           [&](int64_t size) { return size == 1 && inserted-- > 0; });
  return result;
}

} // namespace dtc::frontend
