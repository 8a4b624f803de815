//===- Images.cpp - resizing and writing of images ------------------------===//

#include "Images.h"

#include "Core/Error.h"
#include "Data/Npy.h"

#include <cmath>

using namespace dtc::data;
using dtc::rt::fail;
using dtc::rt::format;

namespace {

/// The source pixels, with weights, whose mean is one pixel of the result.
struct Taps {
  int64_t first;
  std::vector<double> weights;
};

} // namespace

/// A triangle filter, cut off at the borders. Its width is twice the distance
/// of two pixels of the result or of the source, whichever is larger.
static std::vector<Taps> makeTaps(int64_t before, int64_t after) {
  double scale = double(before) / double(after), reach = std::max(scale, 1.0);
  std::vector<Taps> all;
  for (int64_t i = 0; i < after; ++i) {
    double centre = (double(i) + 0.5) * scale, sum = 0;
    // Rounds like Pillow. NOLINTBEGIN(bugprone-incorrect-roundings)
    int64_t first = std::max<int64_t>(0, int64_t(centre - reach + 0.5));
    int64_t last = std::min<int64_t>(before, int64_t(centre + reach + 0.5));
    // NOLINTEND(bugprone-incorrect-roundings)
    Taps taps{first, {}};
    for (int64_t x = first; x < last; ++x) {
      double distance = std::abs((double(x) - centre + 0.5) / reach);
      taps.weights.push_back(std::max(0.0, 1 - distance));
      sum += taps.weights.back();
    }
    for (double &weight : taps.weights)
      weight /= sum;
    all.push_back(std::move(taps));
  }
  return all;
}

/// Maps `lines` x `before` x `inner` elements to `lines` x `after` x `inner`.
static std::vector<uint8_t> resizeAlong(const std::vector<uint8_t> &from,
                                        int64_t lines, int64_t before,
                                        int64_t after, int64_t inner) {
  std::vector<Taps> taps = makeTaps(before, after);
  std::vector<uint8_t> to(size_t(lines * after * inner));
  auto *target = to.data();
  for (int64_t line = 0; line < lines; ++line)
    for (const Taps &tap : taps)
      for (int64_t i = 0; i < inner; ++i) {
        const uint8_t *source =
            from.data() + (line * before + tap.first) * inner + i;
        double sum = 0.5; // rounds
        for (double weight : tap.weights) {
          sum += weight * *source;
          source += inner;
        }
        *target++ = uint8_t(std::min(sum, 255.0));
      }
  return to;
}

Image dtc::data::resizeImage(const Image &image, int64_t height,
                             int64_t width) {
  std::vector<uint8_t> wide = resizeAlong(image.pixels, image.height,
                                          image.width, width, image.channels);
  return {height, width, image.channels,
          resizeAlong(wide, 1, image.height, height, width * image.channels)};
}

ImageWriter::ImageWriter(const Settings &settings, const OutputFolder &folder)
    : settings(settings), folder(folder) {
  if (settings.like.empty())
    return;
  rt::Npy former(settings.like + "/" + settings.input + ".npy");
  if (former.shape().size() != 4)
    fail("'%s' has shape %s, expected images", former.path().c_str(),
         formatShape(former.shape()).c_str());
  shape.assign(former.shape().begin() + 1, former.shape().end());
  first = "'" + former.path() + "'";
}

void ImageWriter::append(bool isValid, const Image &given, uint16_t label,
                         const std::string &source) {
  Image resized;
  bool resizes = settings.height && (given.height != settings.height ||
                                     given.width != settings.width);
  if (resizes)
    resized = resizeImage(given, settings.height, settings.width);
  const Image &image = resizes ? resized : given;
  std::vector<int64_t> found = {image.channels, image.height, image.width};
  if (shape.empty()) {
    shape = found;
    first = source;
  }
  if (found != shape)
    fail("%s has shape %s, but %s has %s; expected images of one size, or "
         "--resize HEIGHT,WIDTH",
         source.c_str(), formatShape(found).c_str(), first.c_str(),
         formatShape(shape).c_str());
  if (!writer) {
    writer.emplace(folder, settings.input, settings.labels, DTC_U8, shape,
                   DTC_U16);
    planes.resize(image.pixels.size());
    sums.resize(size_t(image.channels));
    squares.resize(sums.size());
  }
  size_t count = size_t(image.height * image.width);
  for (size_t channel = 0; channel < sums.size(); ++channel) {
    uint64_t sum = 0, square = 0;
    uint8_t *plane = planes.data() + channel * count;
    for (size_t i = 0; i < count; ++i) {
      uint8_t pixel = image.pixels[i * sums.size() + channel];
      plane[i] = pixel;
      sum += pixel;
      square += uint64_t(pixel) * pixel;
    }
    if (!isValid) {
      sums[channel] += double(sum);
      squares[channel] += double(square);
    }
  }
  if (!isValid)
    pixels += double(count);
  writer->append(isValid, planes.data(), &label);
}

std::string ImageWriter::finish() {
  if (!writer)
    fail("found no image");
  writer->finish();
  std::string what = format("%s, '%s' of shape %s", writer->describe().c_str(),
                            settings.input.c_str(), formatShape(shape).c_str());
  if (!settings.like.empty())
    return what + format("; --transform as for '%s'\n", settings.like.c_str());
  std::string means, deviations;
  for (size_t channel = 0; channel < sums.size(); ++channel) {
    double mean = sums[channel] / pixels;
    double variance = std::max(0.0, squares[channel] / pixels - mean * mean);
    const char *comma = channel ? "," : "";
    means += format("%s%.4f", comma, mean / 255);
    deviations += format("%s%.4f", comma, std::sqrt(variance) / 255);
  }
  if (sums.size() > 1) {
    means = "[" + means + "]";
    deviations = "[" + deviations + "]";
  }
  return what + format("; --transform 'scale, normalize(%s,%s)'\n",
                       means.c_str(), deviations.c_str());
}
