//===- Transform.cpp - transforms of images -------------------------------===//

#include "Transform.h"

#include "Core/Error.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace dtc::rt;

using Kind = TransformStep::Kind;

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

static ImageShape resultOf(const TransformStep &step, ImageShape image) {
  auto perChannel = [&](const std::vector<double> &values) {
    if (values.size() != 1 && int64_t(values.size()) != image.channels)
      fail("--transform: found %zu numbers in a list of '%s', expected one or "
           "%lld, as many as channels",
           values.size(), step.name.c_str(), (long long)image.channels);
  };
  switch (step.kind) {
  case Kind::normalize:
    perChannel(step.mean);
    perChannel(step.deviation);
    return image;
  case Kind::scale:
  case Kind::flip:
    return image;
  case Kind::crop:
  case Kind::centerCrop:
    if (image.height + 2 * step.padding < step.height ||
        image.width + 2 * step.padding < step.width)
      fail(
          "--transform: '%s' takes %lld x %lld of images of %lld x %lld with a "
          "padding of %lld, expected at most what is there",
          step.name.c_str(), (long long)step.height, (long long)step.width,
          (long long)image.height, (long long)image.width,
          (long long)step.padding);
    return {image.channels, step.height, step.width};
  case Kind::resize:
    return {image.channels, step.height, step.width};
  }
  return image;
}

Transform::Transform(std::vector<TransformStep> list, ImageShape input,
                     bool random)
    : steps(std::move(list)), shapes{input}, random(random) {
  for (const TransformStep &step : steps) {
    ImageShape before = shapes.back(), after = resultOf(step, before);
    bool resizes = step.kind == Kind::resize;
    shapes.push_back(after);
    rows.push_back(resizes ? findBetween(before.height, after.height)
                           : std::vector<Between>());
    columns.push_back(resizes ? findBetween(before.width, after.width)
                              : std::vector<Between>());
  }
}

int64_t Transform::mostElements() const {
  int64_t most = 0;
  for (const ImageShape &shape : shapes)
    most = std::max(most, shape.elements());
  return most;
}

//===----------------------------------------------------------------------===//
// Pixels
//===----------------------------------------------------------------------===//

static void normalize(const TransformStep &step, const ImageShape &shape,
                      float *image) {
  int64_t pixels = shape.height * shape.width;
  for (int64_t channel = 0; channel < shape.channels; ++channel) {
    auto of = [&](const std::vector<double> &values) {
      return float(values[values.size() == 1 ? 0 : channel]);
    };
    float mean = of(step.mean), deviation = of(step.deviation);
    for (int64_t i = 0; i < pixels; ++i)
      image[i] = (image[i] - mean) / deviation;
    image += pixels;
  }
}

static void mirror(const ImageShape &shape, float *image) {
  for (int64_t row = 0; row < shape.channels * shape.height; ++row)
    std::reverse(image + row * shape.width, image + (row + 1) * shape.width);
}

/// The window at (top, left) of the image; zeros where that lies outside.
static void cropAt(int64_t top, int64_t left, const ImageShape &before,
                   const ImageShape &after, const float *from, float *to) {
  int64_t first = std::clamp<int64_t>(-left, 0, after.width);
  int64_t last = std::clamp<int64_t>(before.width - left, first, after.width);
  for (int64_t channel = 0; channel < after.channels; ++channel)
    for (int64_t y = 0; y < after.height; ++y, to += after.width) {
      int64_t row = top + y;
      if (row < 0 || row >= before.height) {
        std::fill_n(to, after.width, 0.0f);
        continue;
      }
      const float *source =
          from + (channel * before.height + row) * before.width + left;
      std::fill(to, to + first, 0.0f);
      std::copy(source + first, source + last, to + first);
      std::fill(to + last, to + after.width, 0.0f);
    }
}

/// As PyTorch's upsample_bilinear2d without align_corners: pixels are areas.
std::vector<Transform::Between> Transform::findBetween(int64_t before,
                                                       int64_t after) {
  std::vector<Between> all;
  float scale = float(before) / float(after);
  for (int64_t i = 0; i < after; ++i) {
    float place = std::max(scale * (float(i) + 0.5f) - 0.5f, 0.0f);
    int64_t low = std::min(int64_t(place), before - 1);
    all.push_back({low, std::min(low + 1, before - 1),
                   std::clamp(place - float(low), 0.0f, 1.0f)});
  }
  return all;
}

void Transform::resize(size_t step, const float *from, float *to) const {
  const ImageShape &before = shapes[step];
  for (int64_t channel = 0; channel < before.channels; ++channel) {
    for (const Between &row : rows[step]) {
      const float *top = from + row.low * before.width;
      const float *bottom = from + row.high * before.width;
      for (const Between &column : columns[step]) {
        auto along = [&](const float *line) {
          return (1 - column.weight) * line[column.low] +
                 column.weight * line[column.high];
        };
        *to++ = (1 - row.weight) * along(top) + row.weight * along(bottom);
      }
    }
    from += before.height * before.width;
  }
}

/// A whole number of 0 to `most`, from a random word.
static int64_t pick(uint32_t word, int64_t most) {
  return int64_t(uint64_t(word) * uint64_t(most + 1) >> 32);
}

bool Transform::apply(size_t index, float *from, float *to,
                      const PhiloxBlock &words) const {
  const TransformStep &step = steps[index];
  const ImageShape &before = shapes[index], &after = shapes[index + 1];
  switch (step.kind) {
  case Kind::scale: {
    float factor = float(step.factor);
    for (int64_t i = 0; i < before.elements(); ++i)
      from[i] *= factor;
    return false;
  }
  case Kind::normalize:
    normalize(step, before, from);
    return false;
  case Kind::flip:
    if (random && words[0] >> 31)
      mirror(before, from);
    return false;
  case Kind::crop:
  case Kind::centerCrop: {
    int64_t down = before.height + 2 * step.padding - after.height;
    int64_t right = before.width + 2 * step.padding - after.width;
    bool draws = random && step.kind == Kind::crop;
    // The middle is rounded to even, as by torchvision.
    int64_t top =
        draws ? pick(words[0], down) : int64_t(std::nearbyint(down / 2.0));
    int64_t left =
        draws ? pick(words[1], right) : int64_t(std::nearbyint(right / 2.0));
    cropAt(top - step.padding, left - step.padding, before, after, from, to);
    return true;
  }
  case Kind::resize:
    resize(index, from, to);
    return true;
  }
  return false;
}

float *Transform::apply(float *from, float *spare,
                        const RandomStream &stream) const {
  for (size_t i = 0; i < steps.size(); ++i)
    if (apply(i, from, spare, stream.block(uint32_t(i))))
      std::swap(from, spare);
  return from;
}
