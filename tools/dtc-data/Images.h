//===- Images.h - resizing and writing of images ----------------*- C++ -*-===//

#ifndef DTC_TOOLS_DTC_DATA_IMAGES_H
#define DTC_TOOLS_DTC_DATA_IMAGES_H

#include "Converters.h"

namespace dtc::data {

/// Pixels of 8 bits, channels last.
struct Image {
  int64_t height, width, channels;
  std::vector<uint8_t> pixels;
};

/// Resizes bilinearly. Averages if the image shrinks (a triangle filter, like
/// Pillow's BILINEAR).
Image resizeImage(const Image &image, int64_t height, int64_t width);

/// Writes images with labels, channels first, resized if the settings say so.
class ImageWriter {
public:
  ImageWriter(const Settings &settings, const OutputFolder &folder);

  /// `source` is the image's name in messages.
  void append(bool isValid, const Image &image, uint16_t label,
              const std::string &source);
  /// Returns a summary, with the mean and deviation of each channel of the
  /// training pixels, between 0 and 1. With `like`, it has no mean and
  /// deviation, because those of the other set apply.
  std::string finish();

private:
  const Settings &settings;
  const OutputFolder &folder;
  std::optional<SampleWriter> writer; ///< since the first image
  std::vector<int64_t> shape;         ///< of a sample
  std::string first;                  ///< the image with that shape
  std::vector<uint8_t> planes;
  std::vector<double> sums, squares; ///< by channel
  double pixels = 0;                 ///< per channel
};

} // namespace dtc::data

#endif // DTC_TOOLS_DTC_DATA_IMAGES_H
