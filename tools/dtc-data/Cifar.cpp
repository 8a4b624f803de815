//===- Cifar.cpp - CIFAR-10 and CIFAR-100 ---------------------------------===//
//
// Records: a label (CIFAR-100: a coarse and a fine one), then 32 x 32 pixels of
// red, of green and of blue.
//
//===----------------------------------------------------------------------===//

#include "Core/Error.h"
#include "Images.h"
#include "System/MappedFile.h"

using namespace dtc::data;
using dtc::rt::fail;

static constexpr int64_t side = 32, pixels = side * side;

static void convertFile(const std::string &path, size_t labels, size_t label,
                        int classes, ImageWriter &writer,
                        const Settings &settings, bool isTest) {
  dtc::rt::MappedFile file(path);
  std::string_view bytes = file.bytes();
  size_t record = labels + 3 * pixels;
  if (bytes.empty() || bytes.size() % record)
    fail("'%s' has %zu bytes, expected a multiple of %zu: records of CIFAR-%s",
         path.c_str(), bytes.size(), record, labels == 1 ? "10" : "100");
  int64_t count = int64_t(bytes.size() / record);
  Split split(count, isTest ? 0 : settings.valid.value_or(0), settings.seed);
  Image image{side, side, 3, std::vector<uint8_t>(3 * pixels)};
  for (int64_t i = 0; i < count; ++i) {
    const char *at = bytes.data() + size_t(i) * record;
    uint8_t value = uint8_t(at[label]);
    if (value >= classes)
      fail("'%s' has label %d in record %lld, expected 0 to %d", path.c_str(),
           value, (long long)i, classes - 1);
    for (int64_t pixel = 0; pixel < pixels; ++pixel)
      for (int64_t channel = 0; channel < 3; ++channel)
        image.pixels[size_t(pixel * 3 + channel)] =
            uint8_t(at[labels + size_t(channel * pixels + pixel)]);
    writer.append(isTest || split.isValid(i), image, value, path);
  }
}

std::string dtc::data::convertCifar(const Settings &settings,
                                    const OutputFolder &folder) {
  const std::string &source = settings.sources[0];
  std::vector<std::string> train;
  std::string test;
  bool isHundred = dtc::rt::fileExists(source + "/train.bin");
  if (isHundred) {
    train = {source + "/train.bin"};
    test = source + "/test.bin";
  } else {
    for (int i = 1; i <= 5; ++i)
      train.push_back(source + "/data_batch_" + std::to_string(i) + ".bin");
    test = source + "/test_batch.bin";
    if (!dtc::rt::fileExists(train[0]))
      fail("found neither '%s' nor '%s/train.bin', expected the binary version "
           "of CIFAR-10 or CIFAR-100",
           train[0].c_str(), source.c_str());
    if (settings.coarse)
      fail("found --classes coarse, expected it with CIFAR-100");
  }
  ImageWriter writer(settings, folder);
  size_t labels = isHundred ? 2 : 1;
  size_t label = isHundred && !settings.coarse ? 1 : 0;
  int classes = !isHundred ? 10 : settings.coarse ? 20 : 100;
  for (const std::string &path : train)
    convertFile(path, labels, label, classes, writer, settings, false);
  if (!settings.valid)
    convertFile(test, labels, label, classes, writer, settings, true);
  return writer.finish();
}
