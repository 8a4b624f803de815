//===- ParameterTable.cpp - weights beside the IR -------------------------===//
//
// Writes the safetensors format: size of the header, header as JSON, elements.
// https://github.com/huggingface/safetensors#format
//
//===----------------------------------------------------------------------===//

#include "dtc/Frontend/ParameterTable.h"

#include "llvm/Support/Endian.h"
#include "llvm/Support/EndianStream.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <cstring>

using namespace llvm;

namespace dtc {

uint64_t Parameter::byteSize() const {
  uint64_t count = 1;
  for (int64_t dim : shape)
    count *= dim;
  return count * (dtype == ParameterType::F64 ? 8 : 4);
}

/// Whether all exponent bits are set, as in infinities and NaN.
template <typename Bits>
static bool hasNotFinite(ArrayRef<char> bytes, Bits exponent) {
  for (size_t i = 0; i + sizeof(Bits) <= bytes.size(); i += sizeof(Bits)) {
    auto bits = support::endian::read<Bits, endianness::little>(&bytes[i]);
    if ((bits & exponent) == exponent)
      return true;
  }
  return false;
}

bool Parameter::hasNotFinite() const {
  return dtype == ParameterType::F64
             ? dtc::hasNotFinite<uint64_t>(bytes, 0x7ff0000000000000)
             : dtc::hasNotFinite<uint32_t>(bytes, 0x7f800000);
}

const Parameter *ParameterTable::find(StringRef name) const {
  for (const Parameter &parameter : parameters)
    if (parameter.name == name)
      return &parameter;
  return nullptr;
}

/// Writes a matrix that is stored as its transpose, in row-major order.
static void writeTransposed(raw_ostream &os, const Parameter &parameter) {
  int64_t rows = parameter.shape[0], columns = parameter.shape[1];
  int64_t size = parameter.dtype == ParameterType::F64 ? 8 : 4;
  // Writes several rows at once, to use whole cache lines of the stored matrix.
  constexpr int64_t maxRows = 16;
  std::vector<char> block(std::min(rows, maxRows) * columns * size);
  for (int64_t first = 0; first < rows; first += maxRows) {
    int64_t height = std::min(maxRows, rows - first);
    for (int64_t j = 0; j < columns; ++j)
      for (int64_t i = 0; i < height; ++i)
        std::memcpy(&block[(i * columns + j) * size],
                    &parameter.bytes[(j * rows + first + i) * size], size);
    os.write(block.data(), height * columns * size);
  }
}

void writeSafetensors(raw_ostream &os, const ParameterTable &table) {
  std::string header;
  raw_string_ostream headerStream(header);
  json::OStream json(headerStream);
  uint64_t end = 0;
  auto describe = [&](StringRef name, StringRef dtype, ArrayRef<int64_t> shape,
                      uint64_t size) {
    uint64_t begin = end;
    end += size;
    json.attributeObject(name, [&] {
      json.attribute("dtype", dtype);
      json.attributeArray("shape", [&] {
        for (int64_t dim : shape)
          json.value(dim);
      });
      json.attributeArray("data_offsets", [&] {
        json.value(int64_t(begin));
        json.value(int64_t(end));
      });
    });
  };
  json.object([&] {
    for (const Parameter &parameter : table.parameters)
      if (parameter.hasData)
        describe(parameter.name,
                 parameter.dtype == ParameterType::F64 ? "F64" : "F32",
                 parameter.shape, parameter.bytes.size());
    for (const Buffer &buffer : table.buffers)
      describe(buffer.name, buffer.dtype, buffer.shape, buffer.bytes.size());
  });
  // Aligns the elements. The format allows spaces as padding.
  header.resize(alignTo(header.size(), 8), ' ');
  support::endian::write<uint64_t>(os, header.size(), endianness::little);
  os << header;
  for (const Parameter &parameter : table.parameters)
    if (parameter.hasData && parameter.transposed)
      writeTransposed(os, parameter);
    else if (parameter.hasData)
      os.write(parameter.bytes.data(), parameter.bytes.size());
  for (const Buffer &buffer : table.buffers)
    os.write(buffer.bytes.data(), buffer.bytes.size());
}

} // namespace dtc
