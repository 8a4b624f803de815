//===- ImageField.cpp - images for a program, transformed -----------------===//

#include "Core/Error.h"
#include "Fields.h"
#include "Transform.h"

#include <algorithm>
#include <mutex>

using namespace dtc::rt;

namespace {

/// The order of an image's dimensions in a file.
enum class Order { channelsFirst, channelsLast };

class ImageField : public Field {
public:
  ImageField(const InputInfo &input, ShardedArray images, Order order,
             Transform transform, uint64_t seed)
      : Field(input, transform.inputShape().elements()),
        images(std::move(images)), order(order),
        transform(std::move(transform)), seed(seed),
        first(size_t(this->transform.mostElements())), second(first) {}

  const ShardedArray &array() const override { return images; }
  void load(int64_t sample, int64_t epoch, void *target) override;

private:
  ShardedArray images;
  Order order;
  Transform transform;
  uint64_t seed;
  std::mutex mutex; ///< of the next members: one thread reads ahead
  std::vector<float> first, second; ///< the image between two steps
};

} // namespace

static void moveChannelsFirst(const ImageShape &shape, const float *from,
                              float *to) {
  int64_t pixels = shape.height * shape.width;
  for (int64_t pixel = 0; pixel < pixels; ++pixel)
    for (int64_t channel = 0; channel < shape.channels; ++channel)
      to[channel * pixels + pixel] = *from++;
}

void ImageField::load(int64_t sample, int64_t epoch, void *target) {
  std::lock_guard lock(mutex);
  float *image = first.data(), *spare = second.data();
  images.read(sample * sampleElements, sampleElements, DTC_F32, image);
  if (order == Order::channelsLast) {
    moveChannelsFirst(transform.inputShape(), image, spare);
    std::swap(image, spare);
  }
  RandomStream stream(seed, RandomUse::transform, uint32_t(epoch),
                      uint64_t(sample));
  image = transform.apply(image, spare, stream);
  convert(DTC_F32, image, input.dtype, target,
          transform.outputShape().elements());
}

bool dtc::rt::takesImages(const InputInfo &input) {
  return input.kind == InputKind::input && input.shape.size() == 4 &&
         isFloat(input.dtype);
}

/// Recognizes the images of an array, for an input with so many channels.
static std::optional<std::pair<Order, ImageShape>>
recognize(const ShardedArray &array, int64_t channels) {
  const std::vector<int64_t> &shape = array.shape();
  if (shape.size() == 3 && channels == 1)
    return std::pair(Order::channelsFirst, ImageShape{1, shape[1], shape[2]});
  if (shape.size() != 4)
    return std::nullopt;
  if (shape[1] == channels)
    return std::pair(Order::channelsFirst,
                     ImageShape{shape[1], shape[2], shape[3]});
  if (shape[3] == channels && array.dtype() == DTC_U8)
    return std::pair(Order::channelsLast,
                     ImageShape{shape[3], shape[1], shape[2]});
  return std::nullopt;
}

std::unique_ptr<Field> dtc::rt::makeImageField(const InputInfo &input,
                                               ShardedArray &array,
                                               const DataOptions &options) {
  std::vector<int64_t> sample = input.sampleShape();
  auto found = recognize(array, sample[0]);
  bool isPlain =
      options.transform.empty() && array.shape().size() == 4 &&
      std::equal(sample.begin(), sample.end(), array.shape().begin() + 1);
  if (isPlain)
    return nullptr;
  if (!found)
    fail("'%s' has shape %s, expected images for input '%s': [samples, %lld, "
         "height, width], or of u8 [samples, height, width, %lld]",
         array.path().c_str(), formatShape(array.shape()).c_str(),
         input.name.c_str(), (long long)sample[0], (long long)sample[0]);
  std::vector<TransformStep> steps;
  if (!options.transform.empty())
    steps = parseTransform(options.transform);
  Transform transform(std::move(steps), found->second, options.randomTransform);
  if (transform.outputShape().sizes() != sample)
    fail("images of '%s' have shape %s%s, expected %s for input '%s'; "
         "--transform 'resize(%lld,%lld)' changes them",
         array.path().c_str(),
         formatShape(transform.outputShape().sizes()).c_str(),
         options.transform.empty() ? "" : " after --transform",
         formatShape(sample).c_str(), input.name.c_str(), (long long)sample[1],
         (long long)sample[2]);
  return std::make_unique<ImageField>(input, std::move(array), found->first,
                                      std::move(transform), options.seed);
}
