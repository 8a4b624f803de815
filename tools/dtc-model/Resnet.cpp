//===- Resnet.cpp - residual networks of images ---------------------------===//
//
// Equals torchvision's ResNet, of basic blocks (18, 34) or of bottlenecks,
// which have the stride in the 3x3 convolution. Batch norms are in training
// mode, as in PyTorch's export of a model in training: their second and third
// result are the new running statistics.
//
//===----------------------------------------------------------------------===//

#include "Architectures.h"

#include <cmath>

namespace dtc::model {

namespace {
/// Models for images up to this size have the paper's stem for CIFAR.
constexpr int64_t largestSmallImage = 64;

/// A value [batch, channels, size, size].
struct Image {
  std::string value;
  int64_t channels, size;
};

struct Convolution {
  int64_t channels, kernel, stride = 1;
};

/// Keeps the size, or divides it by the stride and rounds up. Each position of
/// the result uses a weight [out, in, kernel, kernel].
Image convolve(Network &network, const std::string &path, const Image &x,
               const Convolution &of) {
  int64_t padding = of.kernel / 2;
  int64_t size = (x.size - 1) / of.stride + 1;
  std::string weight = network.parameter(
      path + ".weight", {of.channels, x.channels, of.kernel, of.kernel},
      normal(std::sqrt(2.0 / (of.channels * of.kernel * of.kernel))));
  network.flops +=
      6.0 * network.parameters.back().elements() * double(size) * size;
  std::string value =
      network.apply(path, "Conv", {x.value, weight},
                    {{"dilations", Ints{1, 1}},
                     {"group", 1},
                     {"kernel_shape", Ints{of.kernel, of.kernel}},
                     {"pads", Ints{padding, padding, padding, padding}},
                     {"strides", Ints{of.stride, of.stride}}});
  return {value, of.channels, size};
}

Image batchNorm(Network &network, const std::string &path, const Image &x) {
  const std::string name = path + "/BatchNormalization";
  const Ints shape{x.channels};
  onnx::NodeProto &node = network.builder.node(
      "BatchNormalization", name,
      {x.value, network.parameter(path + ".weight", shape, ones),
       network.parameter(path + ".bias", shape, zeros),
       network.statistic(path + ".running_mean", shape, zeros),
       network.statistic(path + ".running_var", shape, ones)},
      {name, name + ":1", name + ":2"});
  ModelBuilder::setFloat(node, "epsilon", 1e-5f);
  ModelBuilder::setFloat(node, "momentum", 0.9f);
  ModelBuilder::set(node, "training_mode", int64_t(1));
  return {name, x.channels, x.size};
}

Image relu(Network &network, const std::string &path, const Image &x) {
  return {network.apply(path + ".relu", "Relu", {x.value}), x.channels, x.size};
}

Image stem(Network &network, const ResnetSizes &sizes) {
  bool isSmall = sizes.image <= largestSmallImage;
  Image x{"input", sizes.channels, sizes.image};
  x = convolve(
      network, "conv1", x,
      {sizes.width, /*kernel=*/isSmall ? 3 : 7, /*stride=*/isSmall ? 1 : 2});
  x = batchNorm(network, "bn1", x);
  x.value = network.apply("relu", "Relu", {x.value});
  if (isSmall)
    return x;
  x.value = network.apply("maxpool", "MaxPool", {x.value},
                          {{"ceil_mode", 0},
                           {"dilations", Ints{1, 1}},
                           {"kernel_shape", Ints{3, 3}},
                           {"pads", Ints{1, 1, 1, 1}},
                           {"strides", Ints{2, 2}}});
  x.size = (x.size - 1) / 2 + 1;
  return x;
}

/// A branch of consecutive convolutions, and a shortcut, which has a
/// convolution if the shapes differ.
Image block(Network &network, const std::string &path, const Image &x,
            const std::vector<Convolution> &branch, int64_t stride) {
  Image y = x;
  for (size_t i = 0; i < branch.size(); ++i) {
    const std::string number = std::to_string(i + 1);
    y = convolve(network, path + ".conv" + number, y, branch[i]);
    y = batchNorm(network, path + ".bn" + number, y);
    if (i + 1 < branch.size())
      y = relu(network, path, y);
  }
  Image shortcut = x;
  if (stride != 1 || x.channels != y.channels) {
    shortcut = convolve(network, path + ".downsample.0", x,
                        {y.channels, /*kernel=*/1, stride});
    shortcut = batchNorm(network, path + ".downsample.1", shortcut);
  }
  y.value = network.apply(path, "Add", {y.value, shortcut.value});
  return relu(network, path, y);
}

/// The number of blocks in each stage; empty for an invalid number of layers.
Ints getStages(int64_t layers) {
  switch (layers) {
  case 18:
    return {2, 2, 2, 2};
  case 34:
  case 50:
    return {3, 4, 6, 3};
  case 101:
    return {3, 4, 23, 3};
  case 152:
    return {3, 8, 36, 3};
  default:
    return {};
  }
}
} // namespace

bool isResnetDepth(int64_t layers) { return !getStages(layers).empty(); }

Network buildResnet(const ResnetSizes &sizes) {
  Network network("resnet");
  network.builder.input("input",
                        {"batch", sizes.channels, sizes.image, sizes.image});
  bool isBasic = sizes.layers < 50;
  Image x = stem(network, sizes);
  int64_t width = sizes.width, stage = 0;
  for (int64_t blocks : getStages(sizes.layers)) {
    const std::string path = "layer" + std::to_string(++stage) + ".";
    for (int64_t i = 0; i < blocks; ++i) {
      int64_t stride = stage > 1 && i == 0 ? 2 : 1;
      std::vector<Convolution> branch{{width, 3, stride}, {width, 3}};
      if (!isBasic)
        branch = {{width, 1}, {width, 3, stride}, {4 * width, 1}};
      x = block(network, path + std::to_string(i), x, branch, stride);
    }
    width *= 2;
  }
  std::string y = network.apply("avgpool", "GlobalAveragePool", {x.value});
  y = network.apply("flatten", "Flatten", {y}, {{"axis", 1}});
  // The deviation of torch's initial values, which are uniform.
  Start start = normal(std::sqrt(1.0 / (3 * x.channels)));
  std::string weight =
      network.parameter("fc.weight", {sizes.classes, x.channels}, start);
  std::string bias = network.parameter("fc.bias", {sizes.classes}, start);
  network.flops += 6.0 * x.channels * sizes.classes;
  y = network.apply("fc", "Gemm", {y, weight, bias}, {{"transB", 1}});
  network.builder.node("Identity", "logits", {y}, {"logits"});
  network.builder.output("logits", {"batch", sizes.classes});
  return network;
}

} // namespace dtc::model
