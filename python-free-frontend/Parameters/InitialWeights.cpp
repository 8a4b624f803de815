//===- InitialWeights.cpp - weights from another file ---------------------===//
//
// See InitialWeights.h.
//
//===----------------------------------------------------------------------===//

#include "dtc/Frontend/InitialWeights.h"
#include "dtc/Support/ParseJson.h"
#include "dtc/Support/ReadFile.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Endian.h"

#include <cstring>

using namespace llvm;
using namespace dtc;

namespace {
struct Tensor {
  std::string type;
  SmallVector<int64_t, 4> shape;
  ArrayRef<char> bytes;
};

Error makeError(const Twine &text) {
  return createStringError(inconvertibleErrorCode(), text);
}

std::string formatShape(ArrayRef<int64_t> shape) {
  std::string text = "[";
  for (int64_t dim : shape)
    text += (text.size() > 1 ? ", " : "") + std::to_string(dim);
  return text + "]";
}

int64_t sizeOf(StringRef type) {
  if (type == "F64")
    return 8;
  return type == "F32" ? 4 : 2;
}

bool isFloatName(StringRef type) {
  return type == "F64" || type == "F32" || type == "F16" || type == "BF16";
}

Expected<Tensor> readTensor(StringRef name, const json::Object &entry,
                            ArrayRef<char> data) {
  Tensor tensor;
  std::optional<StringRef> type = entry.getString("dtype");
  const json::Array *shape = entry.getArray("shape");
  const json::Array *offsets = entry.getArray("data_offsets");
  if (!type || !shape || !offsets || offsets->size() != 2)
    return makeError("is corrupt at tensor '" + name + "'");
  tensor.type = type->str();
  int64_t count = 1;
  for (const json::Value &dim : *shape) {
    tensor.shape.push_back(dim.getAsInteger().value_or(-1));
    if (tensor.shape.back() < 0 ||
        (tensor.shape.back() &&
         count > int64_t(data.size()) / tensor.shape.back()))
      return makeError("has an impossible shape for '" + name + "'");
    count *= tensor.shape.back();
  }
  uint64_t begin = (*offsets)[0].getAsInteger().value_or(-1);
  uint64_t end = (*offsets)[1].getAsInteger().value_or(-1);
  if (begin > end || end > data.size() ||
      (isFloatName(tensor.type) &&
       end - begin != uint64_t(count * sizeOf(*type))))
    return makeError("is truncated or corrupt at tensor '" + name + "'");
  tensor.bytes = data.slice(begin, end - begin);
  return tensor;
}

/// Checks that each byte after the header belongs to exactly one tensor, as the
/// format demands. Otherwise the file was cut, or overwritten.
Error verifyCoverage(const StringMap<Tensor> &tensors, StringRef data) {
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  for (const auto &[name, tensor] : tensors)
    if (!tensor.bytes.empty())
      ranges.emplace_back(tensor.bytes.data() - data.data(),
                          tensor.bytes.size());
  llvm::sort(ranges);
  uint64_t end = 0;
  for (auto [begin, size] : ranges) {
    if (begin != end)
      return makeError(
          begin > end
              ? "has " + Twine(begin - end) + " bytes at offset " + Twine(end) +
                    " that belong to no tensor; the file is damaged"
              : "has tensors that overlap at byte " + Twine(begin) +
                    "; the file is damaged");
    end += size;
  }
  if (end != data.size())
    return makeError("has " + Twine(data.size() - end) +
                     " bytes after its last tensor; the file is damaged");
  return Error::success();
}

Expected<StringMap<Tensor>> readTensors(StringRef bytes) {
  uint64_t length =
      bytes.size() < 8 ? 0 : support::endian::read64le(bytes.data());
  if (bytes.size() < 8 || length > bytes.size() - 8)
    return makeError("is not a safetensors file, or is truncated");
  Expected<json::Value> header = parseJson(bytes.substr(8, length));
  const json::Object *entries = header ? header->getAsObject() : nullptr;
  if (!entries) {
    return makeError("is not a safetensors file: its header " +
                     (header ? std::string("is not a JSON object")
                             : "is not JSON: " + toString(header.takeError())));
  }
  StringRef rest = bytes.drop_front(8 + length);
  StringMap<Tensor> tensors;
  for (const auto &[key, value] : *entries) {
    const json::Object *entry = value.getAsObject();
    if (key == "__metadata__")
      continue;
    if (!entry)
      return makeError("is corrupt at tensor '" + key.str() +
                       "': its entry is not a JSON object");
    Expected<Tensor> tensor =
        readTensor(key, *entry, ArrayRef(rest.data(), rest.size()));
    if (!tensor)
      return tensor.takeError();
    tensors[key] = std::move(*tensor);
  }
  if (Error error = verifyCoverage(tensors, rest))
    return std::move(error);
  return tensors;
}

/// Reads an element of 16 bits.
float readHalf(const Tensor &tensor, int64_t i) {
  APFloat value(
      tensor.type == "F16" ? APFloat::IEEEhalf() : APFloat::BFloat(),
      APInt(16, support::endian::read16le(tensor.bytes.data() + 2 * i)));
  bool losesInfo;
  value.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven,
                &losesInfo);
  return value.convertToFloat();
}

/// Reads an element of any float type.
double readFloat(const Tensor &tensor, int64_t i) {
  using namespace llvm::support;
  const char *bytes = tensor.bytes.data();
  if (tensor.type == "F64")
    return llvm::bit_cast<double>(endian::read64le(bytes + 8 * i));
  if (tensor.type == "F32")
    return llvm::bit_cast<float>(endian::read32le(bytes + 4 * i));
  return readHalf(tensor, i);
}

/// Whether two tensors have equal elements. Their float types may differ.
bool areEqual(const Tensor &a, const Tensor &b) {
  if (a.shape != b.shape || !isFloatName(a.type) || !isFloatName(b.type))
    return a.shape == b.shape && a.type == b.type && a.bytes == b.bytes;
  int64_t count = a.bytes.size() / sizeOf(a.type);
  return llvm::all_of(llvm::seq<int64_t>(0, count), [&](int64_t i) {
    return readFloat(a, i) == readFloat(b, i);
  });
}

/// Sets the elements of a parameter.
void assign(Parameter &parameter, const Tensor &tensor, StringRef path,
            ParameterTable &table) {
  parameter.dtype =
      tensor.type == "F64" ? ParameterType::F64 : ParameterType::F32;
  parameter.hasData = true;
  parameter.transposed = false;
  parameter.file = path.str();
  parameter.offset = 0;
  if (tensor.type == "F64" || tensor.type == "F32") {
    parameter.bytes = tensor.bytes; // stays in the mapped file
    return;
  }
  auto owned = std::make_shared<std::vector<char>>(parameter.byteSize());
  for (uint64_t i = 0; i < owned->size() / sizeof(float); ++i) {
    float value = readHalf(tensor, i);
    std::memcpy(owned->data() + i * sizeof(float), &value, sizeof(float));
  }
  parameter.bytes = *owned;
  table.owners.push_back(std::move(owned));
}

/// Converts a name of the model to that in the file.
std::string translate(StringRef name, const InitialWeights &rule) {
  if (!rule.added.empty() && !name.consume_front(rule.added))
    return "";
  return rule.dropped + name.str();
}

std::string firstPart(StringRef name) {
  return name.contains('.') ? name.split('.').first.str() + "." : "";
}
} // namespace

Expected<InitialWeights> dtc::loadInitialWeights(StringRef path,
                                                 ParameterTable &table) {
  auto buffer = readFile(path, /*isText=*/false);
  if (!buffer)
    return buffer.takeError();
  Expected<StringMap<Tensor>> tensors = readTensors((*buffer)->getBuffer());
  if (!tensors)
    return tensors.takeError();
  table.owners.push_back(std::shared_ptr<MemoryBuffer>(std::move(*buffer)));

  InitialWeights result;
  // Finds all tensors of the file that belong to a parameter.
  auto findAll = [&](const Parameter &parameter, const InitialWeights &rule) {
    std::vector<std::string> names{parameter.name};
    names.insert(names.end(), parameter.aliases.begin(),
                 parameter.aliases.end());
    std::vector<std::pair<std::string, const Tensor *>> found;
    for (const std::string &name : names)
      if (auto it = tensors->find(translate(name, rule)); it != tensors->end())
        found.emplace_back(it->first().str(), &it->second);
    return found;
  };
  auto find = [&](const Parameter &parameter,
                  const InitialWeights &rule) -> const Tensor * {
    auto found = findAll(parameter, rule);
    return found.empty() ? nullptr : found.front().second;
  };
  auto countFound = [&](const InitialWeights &rule) {
    return llvm::count_if(table.parameters, [&](const Parameter &parameter) {
      return find(parameter, rule) != nullptr;
    });
  };
  if (countFound(result) == 0) {
    std::vector<InitialWeights> rules;
    StringSet<> parts;
    for (const Parameter &parameter : table.parameters)
      if (parts.insert("+" + firstPart(parameter.name)).second)
        rules.push_back({{}, {}, "", firstPart(parameter.name), {}, {}});
    for (const auto &entry : *tensors)
      if (parts.insert("-" + firstPart(entry.first())).second)
        rules.push_back({{}, {}, firstPart(entry.first()), "", {}, {}});
    for (InitialWeights &rule : rules)
      if (countFound(rule) > countFound(result))
        result = rule;
    // A few equal names may be chance.
    if (2 * size_t(countFound(result)) <= table.parameters.size())
      return makeError("has none of the model's parameters, such as '" +
                       (table.parameters.empty()
                            ? StringRef()
                            : StringRef(table.parameters.front().name)) +
                       "'");
  }

  StringSet<> known;
  for (Parameter &parameter : table.parameters) {
    known.insert(translate(parameter.name, result));
    for (const std::string &alias : parameter.aliases)
      known.insert(translate(alias, result));
    const Tensor *tensor = find(parameter, result);
    if (!tensor) {
      result.missing.push_back(parameter.name);
      continue;
    }
    if (!isFloatName(tensor->type))
      return makeError("has elements of type " + tensor->type + " for '" +
                       parameter.name + "', expected F64, F32, F16 or BF16");
    if (ArrayRef(tensor->shape) != ArrayRef(parameter.shape))
      return makeError("has shape " + formatShape(tensor->shape) + " for '" +
                       parameter.name + "', expected " +
                       formatShape(parameter.shape));
    for (const auto &[name, other] : findAll(parameter, result))
      if (!areEqual(*tensor, *other))
        result.differing.push_back(name);
    assign(parameter, *tensor, path, table);
  }
  for (const Buffer &own : table.buffers) {
    known.insert(translate(own.name, result));
    auto other = tensors->find(translate(own.name, result));
    if (other != tensors->end() &&
        !StringRef(own.name).ends_with("num_batches_tracked") &&
        !areEqual(other->second, {own.dtype.str(), own.shape, own.bytes}))
      result.kept.push_back(own.name);
  }
  for (const auto &entry : *tensors)
    if (!known.contains(entry.first()))
      result.unexpected.push_back(entry.first().str());
  llvm::sort(result.unexpected);
  return result;
}
