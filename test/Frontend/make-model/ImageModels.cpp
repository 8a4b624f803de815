//===- ImageModels.cpp - convolutions, pooling and batch norms ------------===//
//
// Models that dtc imports, and models that it refuses.
//
//===----------------------------------------------------------------------===//

#include "Models.h"

namespace dtc::test {

namespace {
/// Sets attributes that are lists.
struct Attribute {
  const char *name;
  Ints values;
};
onnx::NodeProto &add(ModelBuilder &m, const std::string &op,
                     const std::string &name, const Names &inputs,
                     const Names &outputs,
                     const std::vector<Attribute> &attributes) {
  onnx::NodeProto &node = m.node(op, name, inputs, outputs);
  for (const Attribute &attribute : attributes)
    ModelBuilder::set(node, attribute.name, attribute.values);
  return node;
}

/// Convolutions and pools of opset 9, as older exporters write them.
File oldImages() {
  ModelBuilder m(9);
  m.input("x", {"batch", 4, 8, 8});
  m.output("y");
  m.weight("conv.weight", {6, 4, 3, 3});
  m.node("Conv", "conv", {"x", "conv.weight"}, {"h"});
  add(m, "MaxPool", "most", {"h"}, {"p"},
      {{"kernel_shape", {2, 2}}, {"strides", {2, 2}}});
  add(m, "AveragePool", "mean", {"p"}, {"y"}, {{"kernel_shape", {3, 3}}});
  return m;
}

File convolutions() {
  ModelBuilder m;
  m.input("x", {"batch", 4, 7, 9});
  m.input("v", {"batch", 4, 10});
  m.weight("conv.weight", {6, 2, 3, 2});
  m.weight("conv.bias", {6});
  m.weight("same.weight", {5, 4, 3, 2});
  m.weight("line.weight", {5, 4, 3});
  m.weight("up.weight", {4, 3, 3, 3});
  m.weight("up.bias", {6});
  m.weight("upLine.weight", {4, 2, 5});
  onnx::NodeProto &conv =
      add(m, "Conv", "conv", {"x", "conv.weight", "conv.bias"}, {"y0"},
          {{"strides", {2, 1}}, {"pads", {1, 0, 2, 1}}, {"dilations", {1, 2}}});
  m.set(conv, "group", 2);
  for (const char *side : {"SAME_LOWER", "SAME_UPPER"})
    m.set(add(m, "Conv", side, {"x", "same.weight"}, {side},
              {{"strides", {2, 2}}, {"kernel_shape", {3, 2}}}),
          "auto_pad", std::string(side));
  add(m, "Conv", "line", {"v", "line.weight"}, {"y1"}, {{"pads", {2, 1}}});
  onnx::NodeProto &up =
      add(m, "ConvTranspose", "up", {"x", "up.weight", "up.bias"}, {"y2"},
          {{"strides", {2, 2}},
           {"pads", {1, 1, 1, 1}},
           {"output_padding", {1, 0}}});
  m.set(up, "group", 2);
  add(m, "ConvTranspose", "upLine", {"v", "upLine.weight"}, {"y3"},
      {{"strides", {3}}, {"output_shape", {29}}});
  for (const char *name : {"y0", "SAME_LOWER", "SAME_UPPER", "y1", "y2", "y3"})
    m.output(name);
  return m;
}

File poolings() {
  ModelBuilder m(19);
  m.input("x", {"batch", 3, 6, 5});
  m.input("v", {"batch", 3, 8});
  Attribute two{"kernel_shape", {2, 2}}, three{"kernel_shape", {3, 3}};
  Attribute pads{"pads", {1, 1, 1, 1}};
  add(m, "MaxPool", "max", {"x"}, {"y0"},
      {three, {"strides", {2, 2}}, pads, {"dilations", {1, 2}}});
  m.set(add(m, "MaxPool", "ceil", {"x"}, {"y1"},
            {{"kernel_shape", {3, 2}}, {"strides", {2, 2}}}),
        "ceil_mode", 1);
  // The last window that ceil_mode adds would start in the padding.
  m.set(add(m, "MaxPool", "ceilPadded", {"x"}, {"y2"},
            {{"kernel_shape", {2, 1}},
             {"strides", {4, 5}},
             {"pads", {0, 0, 1, 0}}}),
        "ceil_mode", 1);
  add(m, "MaxPool", "line", {"v"}, {"y3"},
      {{"kernel_shape", {2}}, {"strides", {2}}});
  add(m, "AveragePool", "inside", {"x"}, {"y4"}, {two, pads});
  m.set(add(m, "AveragePool", "all", {"x"}, {"y5"}, {two, pads}),
        "count_include_pad", 1);
  for (const char *name : {"y0", "y1", "y2", "y3", "y4", "y5"})
    m.output(name);
  return m;
}

Names addNorm(ModelBuilder &m, const std::string &name, int64_t channels) {
  Names names;
  for (const char *part : {"weight", "bias", "running_mean", "running_var"}) {
    names.push_back(name + "." + part);
    m.declare(names.back(), {channels});
  }
  return names;
}

/// The new statistics of training mode are outputs that nothing reads.
File batchNorms() {
  ModelBuilder m;
  m.input("x", {"batch", 3, 4, 5});
  Names p = addNorm(m, "bn1", 3);
  onnx::NodeProto &image =
      m.node("BatchNormalization", "image", {"x", p[0], p[1], p[2], p[3]},
             {"y0", "mean", "var"});
  m.set(image, "training_mode", 1);
  m.setFloat(image, "momentum", 0.75);
  m.setFloat(image, "epsilon", 0.5);
  m.ints("line", {0, 3, 20});
  m.ints("row", {0, 60});
  m.node("Reshape", "asLine", {"x", "line"}, {"l"});
  m.node("Reshape", "asRow", {"x", "row"}, {"r"});
  m.node("BatchNormalization", "ofLine", {"l", p[0], p[1], p[2], p[3]}, {"y1"});
  p = addNorm(m, "bn2", 60);
  m.node("BatchNormalization", "ofRow", {"r", p[0], p[1], p[2], p[3]}, {"y2"});
  for (const char *name : {"y0", "y1", "y2"})
    m.output(name);
  return m;
}

/// A norm that two branches use. The second use reads the statistics that the
/// first one updated.
File repeatedNorms() {
  ModelBuilder m;
  m.input("x", {"batch", 4});
  m.input("z", {"batch", 4});
  Names p = addNorm(m, "bn", 4);
  onnx::NodeProto &first =
      m.node("BatchNormalization", "first", {"x", p[0], p[1], p[2], p[3]},
             {"y1", "mean", "var"});
  m.set(first, "training_mode", 1);
  m.node("BatchNormalization", "second", {"z", p[0], p[1], "mean", "var"},
         {"y2"});
  m.output("y1");
  m.output("y2");
  return m;
}

/// The ones and zeros of two new norms. Each is stored once.
File mergedNorms() {
  ModelBuilder m;
  m.input("x", {"batch", 4});
  m.weight("ones", {4}, {1, 1, 1, 1});
  m.weight("zeros", {4}, {0, 0, 0, 0});
  std::string x = "x";
  for (const char *module : {"bn1", "bn2"}) {
    std::string y = x + "'";
    m.node("BatchNormalization",
           std::string("/") + module + "/BatchNormalization",
           {x, "ones", "zeros", "zeros", "ones"}, {y});
    x = y;
  }
  m.output(x);
  return m;
}

/// Filters of all kinds of convolution, and the vectors of a batch norm.
File imageParameters() {
  ModelBuilder m;
  m.input("x", {"batch", 4, 8, 8});
  m.declare("conv.weight", {6, 2, 3, 3});
  m.declare("conv.bias", {6});
  m.declare("up.weight", {6, 8, 2, 2});
  m.set(m.node("Conv", "conv", {"x", "conv.weight", "conv.bias"}, {"h"}),
        "group", 2);
  m.node("ConvTranspose", "up", {"h", "up.weight"}, {"k"});
  Names p = addNorm(m, "bn", 8);
  m.node("BatchNormalization", "bn", {"k", p[0], p[1], p[2], p[3]}, {"y"});
  m.output("y");
  return m;
}

/// Names that PyTorch's exporter gives to computed weights.
File generatedImageNames() {
  ModelBuilder m;
  m.input("x", {"batch", 3, 5, 5});
  m.declare("onnx::Conv_1", {4, 3, 3, 3});
  for (const char *name : {"onnx::Conv_2", "3", "4", "5", "6"})
    m.declare(name, {4});
  m.node("Conv", "/conv/Conv", {"x", "onnx::Conv_1", "onnx::Conv_2"}, {"h"});
  m.node("BatchNormalization", "/bn/BatchNormalization",
         {"h", "3", "4", "5", "6"}, {"y"});
  m.output("y");
  return m;
}

/// y = op(x, inputs...) of images [batch, 4, 6, 6], with a weight w.
ModelBuilder single(const std::string &op, const Names &inputs,
                    const std::vector<Attribute> &attributes,
                    const Ints &weight = {4, 4, 3, 3}) {
  ModelBuilder m;
  m.input("x", {"batch", 4, 6, 6});
  m.weight("w", weight);
  m.weight("bias", {3});
  add(m, op, "node", inputs, {"y"}, attributes);
  m.output("y");
  return m;
}
onnx::NodeProto &nodeOf(ModelBuilder &m) {
  return m.graph().mutable_node()->at(0);
}

File convVolume() {
  ModelBuilder m = single("Conv", {"x", "w"}, {}, {4, 4, 3, 3, 3, 3});
  m.graph().clear_input();
  m.input("x", {"batch", 4, 6, 6, 6, 6});
  return m;
}
File convChannels() { return single("Conv", {"x", "w"}, {}, {4, 3, 3, 3}); }
File convGroups() {
  ModelBuilder m = single("Conv", {"x", "w"}, {}, {3, 2, 3, 3});
  m.set(nodeOf(m), "group", 2);
  return m;
}
File convNoTaps() { return single("Conv", {"x", "w"}, {}, {4, 4, 0, 3}); }
File convRank() { return single("Conv", {"x", "w"}, {}, {4, 4, 3}); }
File convBias() { return single("Conv", {"x", "w", "bias"}, {}); }
File convKernel() {
  return single("Conv", {"x", "w"}, {{"kernel_shape", {3, 5}}});
}
File convTooLarge() {
  return single("Conv", {"x", "w"}, {{"dilations", {4, 1}}});
}
File convStride() { return single("Conv", {"x", "w"}, {{"strides", {0, 1}}}); }
File convPads() { return single("Conv", {"x", "w"}, {{"pads", {1, 1}}}); }
File convNegativePads() {
  return single("Conv", {"x", "w"}, {{"pads", {0, 0, -1, 0}}});
}
File convAutoPad() {
  ModelBuilder m = single("Conv", {"x", "w"}, {});
  m.set(nodeOf(m), "auto_pad", std::string("SAME"));
  return m;
}
File transposedChannels() {
  return single("ConvTranspose", {"x", "w"}, {}, {3, 4, 3, 3});
}
File transposedPadding() {
  return single("ConvTranspose", {"x", "w"},
                {{"strides", {2, 2}}, {"output_padding", {2, 0}}});
}
File transposedPads() {
  return single("ConvTranspose", {"x", "w"}, {{"pads", {4, 0, 4, 0}}});
}
File poolNoKernel() { return single("MaxPool", {"x"}, {}); }
File poolPadding() {
  return single("AveragePool", {"x"},
                {{"kernel_shape", {2, 2}}, {"pads", {0, 2, 0, 0}}});
}
File poolIndices() {
  ModelBuilder m = single("MaxPool", {"x"}, {{"kernel_shape", {2, 2}}});
  nodeOf(m).add_output("indices");
  m.output("indices", onnx::TensorProto::INT64);
  return m;
}

ModelBuilder norm() {
  ModelBuilder m = single("BatchNormalization", {"x"}, {});
  for (const std::string &name : addNorm(m, "bn", 4))
    nodeOf(m).add_input(name);
  return m;
}
File normChannels() {
  ModelBuilder m = norm();
  m.graph().mutable_initializer()->rbegin()->set_dims(0, 5);
  return m;
}
File normComputed() {
  ModelBuilder m = norm();
  m.node("Relu", "relu", {"bn.running_var"}, {"positive"});
  m.graph().mutable_node()->SwapElements(0, 1);
  m.graph().mutable_node()->at(1).set_input(4, "positive");
  return m;
}
File normStatistics() {
  ModelBuilder m = norm();
  m.set(nodeOf(m), "training_mode", 1);
  nodeOf(m).add_output("mean");
  nodeOf(m).add_output("var");
  m.output("var");
  return m;
}
} // namespace

void addImageModels(ModelTable &table) {
  table["old-images"] = oldImages;
  table["convolutions"] = convolutions;
  table["poolings"] = poolings;
  table["batch-norms"] = batchNorms;
  table["repeated-norms"] = repeatedNorms;
  table["merged-norms"] = mergedNorms;
  table["image-parameters"] = imageParameters;
  table["generated-image-names"] = generatedImageNames;
  table["conv-volume"] = convVolume;
  table["conv-channels"] = convChannels;
  table["conv-groups"] = convGroups;
  table["conv-no-taps"] = convNoTaps;
  table["conv-rank"] = convRank;
  table["conv-bias"] = convBias;
  table["conv-kernel"] = convKernel;
  table["conv-too-large"] = convTooLarge;
  table["conv-stride"] = convStride;
  table["conv-pads"] = convPads;
  table["conv-negative-pads"] = convNegativePads;
  table["conv-auto-pad"] = convAutoPad;
  table["transposed-channels"] = transposedChannels;
  table["transposed-padding"] = transposedPadding;
  table["transposed-pads"] = transposedPads;
  table["pool-no-kernel"] = poolNoKernel;
  table["pool-padding"] = poolPadding;
  table["pool-indices"] = poolIndices;
  table["norm-channels"] = normChannels;
  table["norm-computed"] = normComputed;
  table["norm-statistics"] = normStatistics;
}

} // namespace dtc::test
