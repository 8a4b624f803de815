//===- ImageFolder.cpp - a folder of images per class ---------------------===//

#include "Core/Error.h"
#include "Core/MappedFile.h"
#include "Images.h"

#include <algorithm>
#include <filesystem>

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_JPEG
#define STBI_ONLY_PNG
#define STBI_ONLY_BMP
#define STBI_MAX_DIMENSIONS 65536
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunused-function"
#include <stb/stb_image.h>
#pragma clang diagnostic pop

using namespace dtc::data;
using dtc::rt::fail;
namespace fs = std::filesystem;

static Image readImage(const std::string &path, int channels) {
  dtc::rt::MappedFile file(path);
  std::string_view bytes = file.bytes();
  if (bytes.size() > size_t(INT32_MAX))
    fail("'%s' has %zu bytes, expected an image of less than 2 GiB",
         path.c_str(), bytes.size());
  int width, height, found;
  std::unique_ptr<stbi_uc, void (*)(void *)> pixels(
      stbi_load_from_memory(reinterpret_cast<const stbi_uc *>(bytes.data()),
                            int(bytes.size()), &width, &height, &found,
                            channels),
      stbi_image_free);
  if (!pixels)
    fail("cannot read '%s': %s; expected a JPEG, PNG or BMP file", path.c_str(),
         stbi_failure_reason());
  size_t count = size_t(width) * size_t(height) * size_t(channels);
  return {height, width, channels, {pixels.get(), pixels.get() + count}};
}

/// Names in a folder but hidden ones, sorted; those of folders, or of all else.
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
  std::vector<std::string> classes = list(source, true);
  if (classes.empty())
    fail("found no sub-folder in '%s', expected one with images for each class",
         source.c_str());
  if (classes.size() > 65536)
    fail("found %zu sub-folders in '%s', expected at most 65536 classes",
         classes.size(), source.c_str());
  std::vector<std::pair<std::string, uint16_t>> files;
  std::string names;
  for (size_t i = 0; i < classes.size(); ++i) {
    std::string path = source + "/" + classes[i];
    std::vector<std::string> images = list(path, false);
    if (images.empty())
      fail("found no image in '%s'", path.c_str());
    for (const std::string &image : images)
      files.emplace_back(path + "/" + image, uint16_t(i));
    names += classes[i] + "\n";
  }
  folder.writeText("classes.txt", names);
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
