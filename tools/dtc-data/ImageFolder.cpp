//===- ImageFolder.cpp - a folder of images per class ---------------------===//

#include "Core/Error.h"
#include "Images.h"
#include "Names.h"
#include "System/MappedFile.h"

#include <algorithm>
#include <filesystem>

#include <png.h>
#include <turbojpeg.h>

using namespace dtc::data;
using dtc::rt::fail;
namespace fs = std::filesystem;

static constexpr int64_t largestSide = 65535;

static Image readJpeg(const std::string &path, std::string_view bytes) {
  std::unique_ptr<void, int (*)(tjhandle)> decoder(tjInitDecompress(),
                                                   tjDestroy);
  auto *data = reinterpret_cast<const unsigned char *>(bytes.data());
  auto check = [&](int status) {
    if (status != 0)
      fail("cannot read '%s': %s", path.c_str(), tjGetErrorStr2(decoder.get()));
  };
  int width, height, subsampling, colours;
  check(tjDecompressHeader3(decoder.get(), data, bytes.size(), &width, &height,
                            &subsampling, &colours));
  if (colours == TJCS_CMYK || colours == TJCS_YCCK)
    fail("'%s' has the colours of print (CMYK), expected RGB or gray",
         path.c_str());
  Image image{height, width, 3, {}};
  image.pixels.resize(size_t(width) * size_t(height) * 3);
  check(tjDecompress2(decoder.get(), data, bytes.size(), image.pixels.data(),
                      width, 0, height, TJPF_RGB, TJFLAG_ACCURATEDCT));
  return image;
}

static Image readPng(const std::string &path, std::string_view bytes) {
  png_image header = {};
  header.version = PNG_IMAGE_VERSION;
  std::unique_ptr<png_image, void (*)(png_image *)> guard(&header,
                                                          png_image_free);
  if (!png_image_begin_read_from_memory(&header, bytes.data(), bytes.size()))
    fail("cannot read '%s': %s", path.c_str(), header.message);
  if (header.width > largestSide || header.height > largestSide)
    fail("'%s' has %u x %u pixels, expected at most %lld x %lld", path.c_str(),
         header.height, header.width, (long long)largestSide,
         (long long)largestSide);
  // Reads the opacity, which is then dropped: otherwise libpng would mix in a
  // background.
  header.format = PNG_FORMAT_RGBA;
  std::vector<uint8_t> pixels(PNG_IMAGE_SIZE(header));
  if (!png_image_finish_read(&header, nullptr, pixels.data(), 0, nullptr))
    fail("cannot read '%s': %s", path.c_str(), header.message);
  Image image{header.height, header.width, 3, {}};
  for (size_t i = 0; i < pixels.size(); i += 4)
    image.pixels.insert(image.pixels.end(),
                        {pixels[i], pixels[i + 1], pixels[i + 2]});
  return image;
}

/// ITU-R 601-2, as in Pillow.
static Image toGray(const Image &image) {
  Image gray{image.height, image.width, 1, {}};
  for (size_t i = 0; i < image.pixels.size(); i += 3) {
    const uint8_t *rgb = &image.pixels[i];
    gray.pixels.push_back(uint8_t(
        (19595u * rgb[0] + 38470u * rgb[1] + 7471u * rgb[2] + 0x8000u) >> 16));
  }
  return gray;
}

static Image readImage(const std::string &path, int channels) {
  dtc::rt::MappedFile file(path);
  std::string_view bytes = file.bytes();
  Image image;
  if (bytes.starts_with("\xff\xd8\xff"))
    image = readJpeg(path, bytes);
  else if (bytes.starts_with("\x89PNG"))
    image = readPng(path, bytes);
  else
    fail("'%s' is neither a JPEG nor a PNG file", path.c_str());
  return channels == 1 ? toGray(image) : image;
}

/// The sorted names in a folder, without hidden ones: folders, or other files.
static std::vector<std::string> list(const std::string &folder, bool folders) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    std::string name = it->path().filename().string();
    if (name[0] != '.' && it->is_directory() == folders)
      names.push_back(name);
  }
  if (error)
    fail("cannot read folder '%s': %s", folder.c_str(),
         error.message().c_str());
  std::sort(names.begin(), names.end());
  return names;
}

std::string dtc::data::convertImages(const Settings &settings,
                                     const OutputFolder &folder) {
  const std::string &source = settings.sources[0];
  std::vector<std::string> folders = list(source, true);
  if (folders.empty())
    fail("found no sub-folder in '%s', expected one with images for each class",
         source.c_str());
  if (folders.size() > 65536)
    fail("found %zu sub-folders in '%s', expected at most 65536 classes",
         folders.size(), source.c_str());
  Names classes = settings.like.empty()
                      ? Names(folders)
                      : Names::read(settings.like + "/classes.txt");
  std::vector<std::pair<std::string, uint16_t>> files;
  for (const std::string &name : folders) {
    std::string path = source + "/" + name;
    size_t label = classes.find(name, source);
    std::vector<std::string> images = list(path, false);
    if (images.empty())
      fail("found no image in '%s'", path.c_str());
    for (const std::string &image : images)
      files.emplace_back(path + "/" + image, uint16_t(label));
  }
  classes.write(folder, "classes.txt");
  ImageWriter writer(settings, folder);
  Split split(int64_t(files.size()), settings.valid.value_or(0), settings.seed);
  for (size_t i = 0; i < files.size(); ++i) {
    const auto &[path, label] = files[i];
    writer.append(split.isValid(int64_t(i)), readImage(path, settings.channels),
                  label, "'" + path + "'");
  }
  return writer.finish() +
         dtc::rt::format("%zu classes in classes.txt\n", classes.size());
}
