//===- Transform.h - transforms of images -----------------------*- C++ -*-===//
//
// `scale, crop(32,4), flip, normalize(0.5,0.5)`: docs/Data.md has the steps.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_DATA_TRANSFORM_H
#define DTC_LIB_RUNTIME_DATA_TRANSFORM_H

#include "Core/Random.h"

#include <string>
#include <vector>

namespace dtc::rt {

/// Channels, height and width of an image, whose elements are in this order.
struct ImageShape {
  int64_t channels, height, width;

  int64_t elements() const { return channels * height * width; }
  bool operator==(const ImageShape &) const = default;
  std::vector<int64_t> sizes() const { return {channels, height, width}; }
};

struct TransformStep {
  enum class Kind { scale, normalize, crop, flip, centerCrop, resize } kind;
  std::string name;                    ///< as written, for messages
  double factor = 1;                   ///< of scale
  std::vector<double> mean, deviation; ///< one number, or one per channel
  int64_t height = 0, width = 0;       ///< of the result
  int64_t padding = 0;                 ///< of crop, on each side
};

/// Throws an Error with the position of a mistake.
std::vector<TransformStep> parseTransform(const std::string &text);

/// The steps for images of one shape.
class Transform {
public:
  /// Throws if a step does not fit the images. Without `random`, crops are
  /// those of the middle, and nothing is mirrored.
  Transform(std::vector<TransformStep> steps, ImageShape input, bool random);

  const ImageShape &inputShape() const { return shapes.front(); }
  const ImageShape &outputShape() const { return shapes.back(); }
  /// The largest image on the way.
  int64_t mostElements() const;

  /// Applies the steps to the image in `from`. Both buffers have room for
  /// `mostElements()`. Returns the buffer with the result. Random choices
  /// depend on the stream alone. Does not allocate.
  float *apply(float *from, float *spare, const RandomStream &stream) const;

private:
  /// The position of a pixel of a resized image between two pixels of the
  /// source.
  struct Between {
    int64_t low, high;
    float weight; ///< of `high`
  };
  static std::vector<Between> findBetween(int64_t before, int64_t after);
  void resize(size_t step, const float *from, float *to) const;

  /// One step: returns whether the result is in `to`, else in `from`.
  bool apply(size_t step, float *from, float *to,
             const PhiloxBlock &words) const;

  std::vector<TransformStep> steps;
  std::vector<ImageShape> shapes; ///< before each step, and of the result
  std::vector<std::vector<Between>> rows, columns; ///< of each resize, by step
  bool random;
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_DATA_TRANSFORM_H
