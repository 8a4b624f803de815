//===- ClassWeights.cpp - values of --class-weights -----------------------===//
//
// See ClassWeights.h.
//
//===----------------------------------------------------------------------===//

#include "ClassWeights.h"
#include "dtc/Support/FormatShape.h"
#include "dtc/Support/NpyHeader.h"
#include "dtc/Support/ReadFile.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace dtc;
using llvm::StringRef;
namespace endian = llvm::support::endian;

static llvm::Error makeError(const llvm::Twine &message) {
  return llvm::createStringError(message);
}

static llvm::Expected<std::vector<double>> readList(StringRef text) {
  llvm::SmallVector<StringRef> words;
  text.split(words, ',');
  std::vector<double> weights;
  for (StringRef word : words)
    if (word.getAsDouble(weights.emplace_back()))
      return makeError("--class-weights is '" + text +
                       "', expected numbers X,... or a FILE.npy");
  return weights;
}

static llvm::Expected<std::vector<double>> readNpy(StringRef path) {
  auto fail = [&](const llvm::Twine &message) {
    return makeError("--class-weights: " + path + " " + message);
  };
  auto file = readFile(path, /*isText=*/false);
  if (!file)
    return fail(llvm::toString(file.takeError()));
  StringRef bytes = (*file)->getBuffer();
  NpyHeader header;
  std::string error = parseNpyHeader(bytes, header);
  if (!error.empty())
    return fail(error);
  bool isDouble = header.type->code == DTC_F64;
  if (!isDouble && header.type->code != DTC_F32)
    return fail("has element type '" + header.descr +
                "', expected little-endian f32 ('<f4') or f64 ('<f8')");
  if (header.shape.size() != 1 || header.shape[0] == 0)
    return fail("has shape " + formatShape(header.shape) +
                ", expected one dimension with a weight for each class");
  const char *data = bytes.data() + header.start;
  std::vector<double> weights;
  weights.reserve(header.shape[0]);
  for (int64_t i = 0; i < header.shape[0]; ++i)
    weights.push_back(
        isDouble ? llvm::bit_cast<double>(endian::read64le(data + 8 * i))
                 : llvm::bit_cast<float>(endian::read32le(data + 4 * i)));
  return weights;
}

llvm::Expected<std::vector<double>> dtc::readClassWeights(StringRef text) {
  return text.ends_with(".npy") ? readNpy(text) : readList(text);
}
