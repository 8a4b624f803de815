//===- ModelFile.cpp - a network as a file --------------------------------===//
//
// See ModelFile.h. It draws and writes external weights in pieces, so that they
// may be larger than memory.
//
//===----------------------------------------------------------------------===//

#include "ModelFile.h"
#include "Core/Random.h"
#include "dtc/Support/OutputFile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <optional>

using namespace llvm;

namespace dtc::model {

namespace {
/// Weights of this size and larger are external.
constexpr uint64_t largestEmbedded = uint64_t(1) << 30;
/// Tensors begin at pages of their file, as ONNX recommends, for mapping.
constexpr uint64_t alignment = 4096;
/// Elements drawn at a time.
constexpr int64_t pieceSize = int64_t(1) << 20;

/// The elements of the parameter with this number, in order.
void draw(const Parameter &parameter, uint32_t number, uint64_t seed,
          function_ref<void(StringRef)> take) {
  int64_t count = parameter.elements();
  std::vector<float> piece(std::min(count, pieceSize), parameter.start.value);
  for (int64_t begin = 0; begin < count; begin += pieceSize) {
    int64_t size = std::min(pieceSize, count - begin);
    if (parameter.start.deviation > 0)
      rt::RandomStream(seed, rt::RandomUse::parameter, number,
                       begin / pieceSize)
          .fillNormal(DTC_F32, piece.data(), size, parameter.start.deviation);
    take(StringRef(reinterpret_cast<const char *>(piece.data()),
                   size * sizeof(float)));
  }
}

uint64_t byteSize(const Parameter &parameter) {
  return parameter.elements() * sizeof(float);
}

Expected<OutputFile> createFile(const std::string &path) {
  if (sys::fs::exists(path) && !sys::fs::is_regular_file(path))
    return createStringError("cannot write '" + path +
                             "': it exists and is not a file");
  return OutputFile::create(path);
}

void embedWeights(Network &network, uint64_t seed) {
  for (auto [number, parameter] : enumerate(network.parameters)) {
    std::string &bytes = *network.builder.graph()
                              .mutable_initializer(parameter.initializer)
                              ->mutable_raw_data();
    bytes.reserve(byteSize(parameter));
    draw(parameter, number, seed,
         [&](StringRef piece) { bytes.append(piece.data(), piece.size()); });
  }
}

/// Writes the weights to a file beside `path`, and makes the initializers refer
/// to it. Returns its size.
Expected<uint64_t> writeExternalWeights(Network &network, OutputFile &file,
                                        uint64_t seed) {
  std::string location = sys::path::filename(file.getPath()).str();
  uint64_t end = 0;
  Error error = file.write([&](raw_ostream &os) {
    for (auto [number, parameter] : enumerate(network.parameters)) {
      uint64_t offset = alignTo(end, alignment);
      os.write_zeros(offset - end);
      draw(parameter, number, seed, [&](StringRef piece) { os << piece; });
      end = offset + byteSize(parameter);
      ModelBuilder::makeExternal(
          *network.builder.graph().mutable_initializer(parameter.initializer),
          location, offset, byteSize(parameter));
    }
  });
  if (error)
    return std::move(error);
  return end;
}
} // namespace

Expected<FileSizes> writeModel(Network &network, const std::string &path,
                               const WeightOptions &options) {
  uint64_t bytes = 0;
  for (const Parameter &parameter : network.parameters)
    bytes += byteSize(parameter);
  FileSizes sizes;
  // Replaces the files only after both are written.
  Expected<OutputFile> file = createFile(path);
  if (!file)
    return file.takeError();
  std::optional<OutputFile> data;
  if (options.write && (options.external || bytes > largestEmbedded)) {
    Expected<OutputFile> created = createFile(path + ".data");
    if (!created)
      return created.takeError();
    data = std::move(*created);
    Expected<uint64_t> size =
        writeExternalWeights(network, *data, options.seed);
    if (!size)
      return size.takeError();
    sizes.data = *size;
  } else if (options.write) {
    embedWeights(network, options.seed);
  }
  Error error = file->write([&](raw_ostream &os) {
    std::string model = network.builder.model.SerializeAsString();
    sizes.model = model.size();
    os << model;
  });
  if (!error && data)
    error = data->keep();
  if (!error)
    error = file->keep();
  if (error)
    return std::move(error);
  return sizes;
}

} // namespace dtc::model
