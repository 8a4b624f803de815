//===- TransformTest.cpp --------------------------------------------------===//

#include "Data/Transform.h"
#include "Expect.h"

#include <algorithm>
#include <map>

using namespace dtc::rt;

namespace {

constexpr ImageShape shape{2, 5, 6};

std::vector<float> image() {
  std::vector<float> pixels(60);
  for (int i = 0; i < 60; ++i)
    pixels[size_t(i)] = float(i * 7 % 256);
  return pixels;
}

std::vector<float> apply(const std::string &text, uint64_t seed = 0,
                         bool random = false, uint64_t sample = 0,
                         uint32_t epoch = 0) {
  Transform transform(parseTransform(text), shape, random);
  std::vector<float> from = image();
  from.resize(size_t(transform.mostElements()));
  std::vector<float> spare(from.size());
  RandomStream stream(seed, RandomUse::transform, epoch, sample);
  float *result = transform.apply(from.data(), spare.data(), stream);
  return {result, result + transform.outputShape().elements()};
}

struct Reference {
  const char *transform;
  ImageShape shape;
  std::vector<float> pixels;
};

const Reference references[] = {
#include "Transforms.inc"
};

} // namespace

TEST(Transform, IsTorchvisions) {
  for (const Reference &reference : references) {
    SCOPED_TRACE(reference.transform);
    Transform transform(parseTransform(reference.transform), shape, false);
    EXPECT_TRUE(transform.outputShape() == reference.shape);
    std::vector<float> found = apply(reference.transform);
    ASSERT_EQ(found.size(), reference.pixels.size());
    for (size_t i = 0; i < found.size(); ++i)
      EXPECT_NEAR(found[i], reference.pixels[i],
                  1e-6 * std::max(1.0f, std::abs(reference.pixels[i])));
  }
}

/// Every window of the padded image occurs about equally often, and nothing
/// else occurs.
TEST(Transform, CropsAreWindows) {
  std::map<std::vector<float>, int> windows;
  std::vector<float> pixels = image();
  for (int top = -1; top <= 2; ++top)
    for (int left = -1; left <= 3; ++left) {
      std::vector<float> window;
      for (int c = 0; c < 2; ++c)
        for (int y = top; y < top + 4; ++y)
          for (int x = left; x < left + 4; ++x)
            window.push_back(y < 0 || y >= 5 || x < 0 || x >= 6
                                 ? 0
                                 : pixels[size_t((c * 5 + y) * 6 + x)]);
      windows[window] = 0;
    }
  ASSERT_EQ(windows.size(), 20u);
  constexpr int draws = 4000;
  for (int sample = 0; sample < draws; ++sample) {
    auto found = windows.find(apply("crop(4,1)", 3, true, uint64_t(sample)));
    ASSERT_NE(found, windows.end());
    ++found->second;
  }
  // 200 of each are expected, with a deviation of 14.
  for (auto &[window, count] : windows)
    EXPECT_NEAR(count, draws / 20, 70);
}

TEST(Transform, FlipsHalf) {
  std::vector<float> mirrored = image();
  for (auto row = mirrored.begin(); row != mirrored.end(); row += 6)
    std::reverse(row, row + 6);
  int flips = 0;
  for (int sample = 0; sample < 1000; ++sample) {
    std::vector<float> found = apply("flip", 3, true, uint64_t(sample));
    bool isMirrored = found == mirrored;
    EXPECT_TRUE(isMirrored || found == image());
    flips += isMirrored;
  }
  EXPECT_NEAR(flips, 500, 80);
  EXPECT_EQ(apply("flip"), image());
}

TEST(Transform, DrawsDependOnSeedSampleAndEpoch) {
  const char *text = "crop(5,6,2), flip, crop(5,6,2)";
  std::vector<float> one = apply(text, 1, true, 7, 2);
  EXPECT_EQ(apply(text, 1, true, 7, 2), one);
  int same = 0;
  for (uint32_t i = 0; i < 10; ++i) {
    same += apply(text, 2 + i, true, 7, 2) == one;
    same += apply(text, 1, true, 8 + i, 2) == one;
    same += apply(text, 1, true, 7, 3 + i) == one;
  }
  EXPECT_LT(same, 5);
}

TEST(Transform, ErrorsNameThePosition) {
  EXPECT_ERROR(parseTransform(""), "found its end at character 1, expected "
                                   "scale, normalize, crop, flip");
  EXPECT_ERROR(parseTransform("scale, blur(3)"),
               "found 'blur(3)' at character 8");
  EXPECT_ERROR(parseTransform("scale flip"), "found 'flip' at character 7, "
                                             "expected ',' or the end");
  EXPECT_ERROR(parseTransform("scale,"), "found its end at character 7");
  EXPECT_ERROR(parseTransform("crop(32)"), "expected crop(SIZE,PADDING)");
  EXPECT_ERROR(parseTransform("crop(32,4"), "found its end at character 10, "
                                            "expected ')'");
  EXPECT_ERROR(parseTransform("crop(3.5,4)"), "expected whole numbers");
  EXPECT_ERROR(parseTransform("crop(99999999999999999999,4)"),
               "expected whole numbers from 1 to 65536");
  EXPECT_ERROR(parseTransform("crop([3],[4,5])"), "not lists");
  EXPECT_ERROR(parseTransform("normalize(0.5)"),
               "expected normalize(MEAN,DEVIATION)");
  EXPECT_ERROR(parseTransform("normalize(0.5,0)"), "deviations above 0");
  EXPECT_ERROR(parseTransform("normalize([0.5,nan],1)"), "expected a number");
  EXPECT_ERROR(parseTransform("scale(1/0)"), "no division by 0");
  EXPECT_ERROR(parseTransform("scale(x)"), "found 'x)' at character 7");
  EXPECT_ERROR(parseTransform("flip(1)"), "flip without arguments");
  EXPECT_ERROR(Transform(parseTransform("normalize([1,2,3],1)"), shape, false),
               "found 3 numbers in a list of 'normalize', expected one or 2");
  EXPECT_ERROR(Transform(parseTransform("center-crop(6)"), shape, false),
               "takes 6 x 6 of images of 5 x 6");
}
