//===- Idx.cpp - MNIST and data sets in its format ------------------------===//
//
// Format: two zero bytes, element type (8: unsigned bytes), number of
// dimensions, their sizes as big-endian 32-bit numbers, the elements.
//
//===----------------------------------------------------------------------===//

#include "Core/Error.h"
#include "Images.h"
#include "System/MappedFile.h"

#include <memory>
#include <zlib.h>

using namespace dtc::data;
using dtc::rt::fail;

namespace {

/// A file of unsigned bytes, decompressed if it is gzip.
class IdxFile {
public:
  IdxFile(const std::string &path, unsigned dimensions);

  const std::vector<int64_t> &sizes() const { return shape; }
  const std::string &path() const { return name; }
  /// The next bytes.
  void read(void *target, size_t count);
  /// Throws if there are more.
  void finish();

private:
  struct Closer {
    void operator()(gzFile file) const { gzclose(file); }
  };
  std::string name;
  std::unique_ptr<gzFile_s, Closer> file;
  std::vector<int64_t> shape;
};

} // namespace

IdxFile::IdxFile(const std::string &path, unsigned dimensions) : name(path) {
  dtc::rt::MappedFile isFile(path); // or throws
  file.reset(gzopen(path.c_str(), "rb"));
  if (!file)
    fail("cannot open '%s'", path.c_str());
  gzbuffer(file.get(), 1 << 18);
  uint8_t magic[4];
  read(magic, 4);
  if (magic[0] || magic[1] || magic[2] != 8 || magic[3] != dimensions)
    fail("'%s' starts with %02x %02x %02x %02x, expected 00 00 08 %02x: an idx "
         "file of unsigned bytes with %u dimension%s",
         path.c_str(), magic[0], magic[1], magic[2], magic[3], dimensions,
         dimensions, dimensions == 1 ? "" : "s");
  for (unsigned i = 0; i < dimensions; ++i) {
    uint8_t size[4];
    read(size, 4);
    shape.push_back(int64_t(size[0]) << 24 | size[1] << 16 | size[2] << 8 |
                    size[3]);
    if (shape.back() == 0 || (i && shape.back() > 65536))
      fail("'%s' has size %lld in dimension %u, expected 1 to %s", path.c_str(),
           (long long)shape.back(), i, i ? "65536" : "2^32");
  }
}

void IdxFile::read(void *target, size_t count) {
  int found = gzread(file.get(), target, unsigned(count));
  if (found == int(count))
    return;
  int code;
  const char *message = gzerror(file.get(), &code);
  if (code != Z_OK && code != Z_BUF_ERROR)
    fail("cannot read '%s': %s", name.c_str(), message);
  fail("'%s' is truncated", name.c_str());
}

void IdxFile::finish() {
  char more;
  if (int found = gzread(file.get(), &more, 1); found > 0)
    fail("'%s' is longer than its header says", name.c_str());
  else if (found < 0) // the checksum of gzip comes last
    fail("cannot read '%s': it is damaged", name.c_str());
}

static std::string findIdx(const std::string &folder, const std::string &part,
                           const std::string &kind, unsigned dimensions) {
  std::string end = "idx" + std::to_string(dimensions) + "-ubyte";
  for (const char *separator : {"-", "."})
    for (const char *compressed : {"", ".gz"}) {
      std::string path = folder + "/" + part + "-" + kind + separator + end;
      if (dtc::rt::fileExists(path + compressed))
        return path + compressed;
    }
  fail("found no file '%s/%s-%s-%s' or %s.gz", folder.c_str(), part.c_str(),
       kind.c_str(), end.c_str(), end.c_str());
}

static void convertPart(const std::string &folder, const std::string &part,
                        ImageWriter &writer, const Settings &settings,
                        bool isTest) {
  IdxFile images(findIdx(folder, part, "images", 3), 3);
  IdxFile labels(findIdx(folder, part, "labels", 1), 1);
  int64_t count = images.sizes()[0];
  if (labels.sizes()[0] != count)
    fail("'%s' has %lld images, but '%s' has %lld labels; expected the same "
         "number",
         images.path().c_str(), (long long)count, labels.path().c_str(),
         (long long)labels.sizes()[0]);
  Image image{images.sizes()[1], images.sizes()[2], 1, {}};
  image.pixels.resize(size_t(image.height * image.width));
  Split split(count, isTest ? 0 : settings.valid.value_or(0), settings.seed);
  for (int64_t i = 0; i < count; ++i) {
    uint8_t label;
    images.read(image.pixels.data(), image.pixels.size());
    labels.read(&label, 1);
    writer.append(isTest || split.isValid(i), image, label, images.path());
  }
  images.finish();
  labels.finish();
}

std::string dtc::data::convertIdx(const Settings &settings,
                                  const OutputFolder &folder) {
  ImageWriter writer(settings, folder);
  convertPart(settings.sources[0], "train", writer, settings, false);
  // The test set is for evaluation, unless --valid holds out a part for it.
  if (!settings.valid)
    convertPart(settings.sources[0], "t10k", writer, settings, true);
  return writer.finish();
}
