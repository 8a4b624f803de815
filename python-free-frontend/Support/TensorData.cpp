//===- TensorData.cpp - bytes of an ONNX tensor ---------------------------===//
//
// Finds the elements of a tensor, and checks that their number matches the
// shape.
//
//===----------------------------------------------------------------------===//

#include "Support/TensorData.h"
#include "Support/Problem.h"

#include "dtc/Support/MaxElements.h"
#include "dtc/Support/ReadFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <cstring>

using namespace llvm;

namespace dtc::frontend {

std::optional<DType> toDType(int onnxType) {
  switch (onnxType) {
  case onnx::TensorProto::FLOAT:
  case onnx::TensorProto::FLOAT16:
  case onnx::TensorProto::BFLOAT16:
    return DType::F32;
  case onnx::TensorProto::DOUBLE:
    return DType::F64;
  case onnx::TensorProto::INT8:
  case onnx::TensorProto::INT16:
  case onnx::TensorProto::INT32:
  case onnx::TensorProto::UINT8:
  case onnx::TensorProto::UINT16:
    return DType::I32;
  case onnx::TensorProto::INT64:
  case onnx::TensorProto::UINT32:
    return DType::I64;
  case onnx::TensorProto::BOOL:
    return DType::Bool;
  default:
    return std::nullopt;
  }
}

bool isFloat16(int onnxType) {
  return onnxType == onnx::TensorProto::FLOAT16 ||
         onnxType == onnx::TensorProto::BFLOAT16;
}

/// Bytes of one element in the file. It may be less than that of the DType.
static int64_t storedSize(int onnxType) {
  for (const ElementType &type : elementTypes)
    if (type.onnx == onnxType)
      return type.bytes;
  llvm_unreachable("toDType refuses all other types");
}

std::string onnxTypeName(int onnxType) {
  if (!onnx::TensorProto::DataType_IsValid(onnxType))
    return "number " + itostr(onnxType);
  return onnx::TensorProto::DataType_Name(
      onnx::TensorProto::DataType(onnxType));
}

TensorReader::TensorReader(StringRef modelPath)
    : modelPath(modelPath), folder(sys::path::parent_path(modelPath)) {}

template <typename T, typename Field>
void TensorReader::copyTyped(const Field &field, TensorData &data) {
  auto owned = std::make_shared<std::vector<char>>(field.size() * sizeof(T));
  for (int i = 0; i < field.size(); ++i) {
    T value = field.Get(i);
    std::memcpy(owned->data() + i * sizeof(T), &value, sizeof(T));
  }
  data.bytes = *owned;
  alive.push_back(std::move(owned));
}

template <typename From, typename To>
void TensorReader::widen(TensorData &data) {
  size_t count = data.bytes.size() / sizeof(From);
  auto owned = std::make_shared<std::vector<char>>(count * sizeof(To));
  for (size_t i = 0; i < count; ++i) {
    From value;
    std::memcpy(&value, data.bytes.data() + i * sizeof(From), sizeof(From));
    To wide = value;
    std::memcpy(owned->data() + i * sizeof(To), &wide, sizeof(To));
  }
  data.bytes = *owned;
  data.file.clear();
  alive.push_back(std::move(owned));
}

namespace {

/// The upper 16 bits of a float.
struct BFloat16 {
  uint16_t bits;
  operator float() const { return bit_cast<float>(uint32_t(bits) << 16); }
};

} // namespace

void TensorReader::widen(int onnxType, TensorData &data) {
  switch (onnxType) {
  case onnx::TensorProto::FLOAT16:
    return widen<_Float16, float>(data);
  case onnx::TensorProto::BFLOAT16:
    return widen<BFloat16, float>(data);
  case onnx::TensorProto::INT8:
    return widen<int8_t, int32_t>(data);
  case onnx::TensorProto::UINT8:
    return widen<uint8_t, int32_t>(data);
  case onnx::TensorProto::INT16:
    return widen<int16_t, int32_t>(data);
  case onnx::TensorProto::UINT16:
    return widen<uint16_t, int32_t>(data);
  case onnx::TensorProto::UINT32:
    return widen<uint32_t, int64_t>(data);
  default:
    return;
  }
}

/// Checks that a link stays inside of the model's folder. Download caches have
/// links for both the model and its data, which lead to files of one folder.
Error TensorReader::checkInside(StringRef path) const {
  SmallString<128> place, root, model;
  if (sys::fs::real_path(path, place) ||
      sys::fs::real_path(folder.empty() ? "." : folder, root) ||
      sys::fs::real_path(modelPath, model))
    return Error::success(); // the reader reports the missing file
  auto isIn = [&](StringRef folder) {
    return StringRef(place).starts_with(folder) &&
           (folder == "/" || place[folder.size()] == '/');
  };
  if (isIn(root) || isIn(sys::path::parent_path(model)))
    return Error::success();
  return problem("external data file '" + path + "' is a link to '" + place +
                     "', expected a file in the folder of the model",
                 "copy it there");
}

Expected<ArrayRef<char>> TensorReader::mapFile(StringRef location) {
  auto [it, isNew] = files.try_emplace(location);
  if (!isNew)
    return it->second;
  SmallString<128> path(folder);
  sys::path::append(path, location);
  if (Error error = checkInside(path))
    return std::move(error);
  auto buffer = readFile(path, /*isText=*/false);
  if (!buffer) {
    files.erase(it);
    return problem("external data file '" + path + "' " +
                       toString(buffer.takeError()),
                   "put it beside the model");
  }
  std::shared_ptr<const MemoryBuffer> owned = std::move(*buffer);
  it->second = ArrayRef<char>(owned->getBufferStart(), owned->getBufferSize());
  alive.push_back(std::move(owned));
  return it->second;
}

Error TensorReader::readExternal(const onnx::TensorProto &tensor,
                                 TensorData &data) {
  StringRef location;
  uint64_t offset = 0;
  std::optional<uint64_t> length;
  for (const auto &entry : tensor.external_data()) {
    StringRef key = entry.key(), value = entry.value();
    if (key == "location") {
      location = value;
      continue;
    }
    if (key != "offset" && key != "length")
      continue; // such as the checksum
    uint64_t number;
    if (value.getAsInteger(10, number))
      return problem("external data of '" + tensor.name() + "' has " + key +
                     " '" + value + "', expected a number");
    if (key == "offset")
      offset = number;
    else
      length = number;
  }
  if (location.empty())
    return problem("external data of '" + tensor.name() +
                   "' names no file (no 'location')");
  // The file system would ignore all characters after the NUL.
  if (location.contains('\0'))
    return problem("external data of '" + tensor.name() +
                       "' names a file with a NUL in its name",
                   "the file is damaged; export it again");
  if (sys::path::is_absolute(location) ||
      is_contained(split(location, '/'), StringRef("..")))
    return problem("external data of '" + tensor.name() + "' lies in '" +
                       location + "', outside the folder of the model",
                   "ONNX allows relative paths below it only");
  Expected<ArrayRef<char>> file = mapFile(location);
  if (!file)
    return file.takeError();
  if (offset > file->size() || length.value_or(0) > file->size() - offset)
    return problem("external data of '" + tensor.name() + "' needs " +
                       (length ? Twine(*length) : Twine("all")) +
                       " bytes from offset " + Twine(offset) + " of '" +
                       location + "', which has " + Twine(file->size()) +
                       " bytes",
                   "the file is truncated or belongs to another model");
  data.bytes = file->slice(offset, length.value_or(file->size() - offset));
  // Without a length, the shape says how many bytes belong to the tensor.
  uint64_t needed = numElements(data.shape) * storedSize(tensor.data_type());
  if (!length && data.bytes.size() > needed)
    data.bytes = data.bytes.take_front(needed);
  SmallString<128> path(folder);
  sys::path::append(path, location);
  data.file = path.str();
  data.offset = offset;
  return Error::success();
}

Expected<TensorData> TensorReader::read(const onnx::TensorProto &tensor) {
  TensorData data;
  std::optional<DType> dtype = toDType(tensor.data_type());
  if (!dtype)
    return problem("tensor '" + tensor.name() + "' has element type " +
                       onnxTypeName(tensor.data_type()),
                   supportedTypes);
  data.dtype = *dtype;
  // Limits the number of elements, so that the products below cannot overflow.
  int64_t count = 1;
  for (int64_t dim : tensor.dims()) {
    if (dim < 0 || dim > maxElements || (dim && count > maxElements / dim))
      return problem("tensor '" + tensor.name() + "' has an impossible shape");
    count *= dim;
    data.shape.push_back(dim);
  }

  if (tensor.data_location() == onnx::TensorProto::EXTERNAL) {
    if (Error error = readExternal(tensor, data))
      return std::move(error);
  } else if (tensor.has_raw_data()) {
    data.bytes =
        ArrayRef<char>(tensor.raw_data().data(), tensor.raw_data().size());
  } else if (isFloat16(tensor.data_type()) && tensor.int32_data_size()) {
    copyTyped<uint16_t>(tensor.int32_data(), data); // bit patterns
  } else if (data.dtype == DType::F32 && tensor.float_data_size()) {
    copyTyped<float>(tensor.float_data(), data);
  } else if (data.dtype == DType::F64 && tensor.double_data_size()) {
    copyTyped<double>(tensor.double_data(), data);
  } else if (data.dtype == DType::I64 && tensor.int64_data_size()) {
    copyTyped<int64_t>(tensor.int64_data(), data);
  } else if (data.dtype == DType::I64 && tensor.uint64_data_size()) {
    copyTyped<int64_t>(tensor.uint64_data(), data);
  } else if (data.dtype == DType::I32 && tensor.int32_data_size()) {
    copyTyped<int32_t>(tensor.int32_data(), data);
  } else if (data.dtype == DType::Bool && tensor.int32_data_size()) {
    copyTyped<uint8_t>(tensor.int32_data(), data);
  } else {
    data.hasData = count == 0;
    return data;
  }

  bool isTyped = tensor.data_location() != onnx::TensorProto::EXTERNAL &&
                 !tensor.has_raw_data();
  bool isStored = !isTyped || isFloat16(tensor.data_type());
  uint64_t expected = count * (isStored ? storedSize(tensor.data_type())
                                        : byteSize(data.dtype));
  if (data.bytes.size() != expected)
    return problem("tensor '" + tensor.name() + "' of type " +
                       toString(data.dtype) + " and shape " +
                       toString(data.shape) + " has " +
                       Twine(data.bytes.size()) + " bytes of data, expected " +
                       Twine(expected),
                   "the file is damaged; export it again");
  if (isStored)
    widen(tensor.data_type(), data);
  return data;
}

template <typename T> static T load(const char *bytes, int64_t i) {
  T value;
  std::memcpy(&value, bytes + i * sizeof(T), sizeof(T));
  return value;
}

bool isFloatTensor(const onnx::TensorProto *tensor) {
  std::optional<DType> dtype =
      tensor ? toDType(tensor->data_type()) : std::nullopt;
  return dtype && isFloat(*dtype);
}

SmallVector<int64_t> dimsOf(const onnx::TensorProto &tensor) {
  return SmallVector<int64_t>(tensor.dims().begin(), tensor.dims().end());
}

HostTensor toHostTensor(const TensorData &data) {
  HostTensor tensor(data.dtype, data.shape);
  const char *bytes = data.bytes.data();
  int64_t columns = data.transposed ? data.shape[1] : 1;
  int64_t rows = data.transposed ? data.shape[0] : 1;
  for (int64_t to = 0; to < tensor.size(); ++to) {
    int64_t i = data.transposed ? to % columns * rows + to / columns : to;
    switch (data.dtype) {
    case DType::F32:
      tensor.setFloat(to, load<float>(bytes, i));
      break;
    case DType::F64:
      tensor.setFloat(to, load<double>(bytes, i));
      break;
    case DType::I32:
      tensor.setInt(to, load<int32_t>(bytes, i));
      break;
    case DType::I64:
      tensor.setInt(to, load<int64_t>(bytes, i));
      break;
    case DType::Bool:
      tensor.setInt(to, load<char>(bytes, i) != 0);
      break;
    }
  }
  return tensor;
}

std::vector<char> toOwnOrder(const TensorData &data) {
  size_t rows = data.shape[0], columns = data.shape[1];
  size_t size = data.bytes.size() / std::max<size_t>(1, rows * columns);
  std::vector<char> result(data.bytes.size());
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = 0; j < columns; ++j)
      std::memcpy(&result[(i * columns + j) * size],
                  &data.bytes[(j * rows + i) * size], size);
  return result;
}

} // namespace dtc::frontend
