//===- ClassWeights.cpp - what --class-weights means ----------------------===//
//
// See ClassWeights.h.
//
//===----------------------------------------------------------------------===//

#include "ClassWeights.h"
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

/// The text after `'key':` in the header, a Python dictionary.
static StringRef findValue(StringRef header, StringRef key) {
  size_t at = header.find(("'" + key + "'").str());
  if (at == StringRef::npos)
    return "";
  return header.substr(at).split(':').second.ltrim();
}

/// See numpy.lib.format: magic, version, length of the header, the header, the
/// elements.
static llvm::Expected<std::vector<double>> readNpy(StringRef path) {
  auto fail = [&](const llvm::Twine &message) {
    return makeError("--class-weights: " + path + ": " + message);
  };
  auto file = readFile(path, /*isText=*/false);
  if (!file)
    return fail(llvm::toString(file.takeError()));
  StringRef bytes = (*file)->getBuffer();
  if (bytes.size() < 12 || !bytes.starts_with("\x93NUMPY") || bytes[6] < 1 ||
      bytes[6] > 3)
    return fail("is not an .npy file of version 1 to 3");
  // Version 1 has a 16-bit length, later ones 32 bits.
  bool isFirst = bytes[6] == 1;
  size_t length = isFirst ? endian::read16le(bytes.data() + 8)
                          : endian::read32le(bytes.data() + 8);
  bytes = bytes.drop_front(isFirst ? 10 : 12);
  StringRef header = bytes.take_front(length);
  bytes = bytes.drop_front(header.size());
  StringRef type = findValue(header, "descr");
  StringRef shape = findValue(header, "shape").split(')').first;
  if (header.size() < length || type.empty() || shape.empty())
    return fail("has a corrupt header");

  bool isDouble = type.starts_with("'<f8'");
  if (!isDouble && !type.starts_with("'<f4'"))
    return fail("has elements of type " + type.take_until([](char c) {
      return c == ',';
    }) + ", expected little-endian f32 ('<f4') or f64 ('<f8')");
  StringRef dimension = shape; // "(10,", without its end
  uint64_t count;
  if (!dimension.consume_front("(") || !dimension.consume_back(",") ||
      dimension.getAsInteger(10, count) || count == 0)
    return fail("has shape " + shape +
                "), expected one dimension with a weight for each class");
  size_t size = isDouble ? 8 : 4;
  if (bytes.size() / size < count)
    return fail("is truncated: " + llvm::Twine(count) + " weights need " +
                llvm::Twine(count) + " x " + llvm::Twine(size) +
                " bytes, it has " + llvm::Twine(bytes.size()));
  std::vector<double> weights;
  weights.reserve(count);
  for (uint64_t i = 0; i < count; ++i)
    weights.push_back(
        isDouble
            ? llvm::bit_cast<double>(endian::read64le(bytes.data() + 8 * i))
            : llvm::bit_cast<float>(endian::read32le(bytes.data() + 4 * i)));
  return weights;
}

llvm::Expected<std::vector<double>> dtc::readClassWeights(StringRef text) {
  return text.ends_with(".npy") ? readNpy(text) : readList(text);
}
