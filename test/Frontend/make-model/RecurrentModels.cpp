//===- RecurrentModels.cpp - recurrent layers -----------------------------===//
//
// Invalid operands and attributes of an LSTM, sequences that are too long, and
// layers with one bias.
//
//===----------------------------------------------------------------------===//

#include "Models.h"

namespace dtc::test {

namespace {
/// y = lstm(x) with two positions, three inputs and two units.
struct Lstm {
  ModelBuilder m;
  onnx::NodeProto *node;

  explicit Lstm(const Dims &x = {2, "batch", 3}, const Ints &w = {1, 8, 3},
                const Names &rest = {}) {
    m.input("x", x);
    m.weight("w", w);
    m.weight("r", {1, 8, 2});
    Names inputs = {"x", "w", "r"};
    inputs.insert(inputs.end(), rest.begin(), rest.end());
    node = &m.node("LSTM", "node", inputs, {"y"});
    m.output("y");
  }
};

/// An exported layer of Keras. The second half of the biases is zero.
File oneBias(const char *producer) {
  Lstm model({2, "batch", 3}, {1, 8, 3}, {"b"});
  std::vector<float> biases(16);
  biases[0] = 1;
  model.m.weight("b", {1, 16}, biases);
  model.m.model.set_producer_name(producer);
  return model.m;
}
File oneBiasOfKeras() { return oneBias("tf2onnx"); }
File oneBiasOfPyTorch() { return oneBias("pytorch"); }

File direction() {
  Lstm model;
  ModelBuilder::set(*model.node, "direction", std::string("both"));
  return model.m;
}
File rank() { return Lstm({"batch", 3}).m; }
File weights() { return Lstm({2, "batch", 3}, {1, 6, 3}).m; }
File hiddenSize() {
  Lstm model;
  ModelBuilder::set(*model.node, "hidden_size", int64_t(3));
  return model.m;
}
File layout() {
  Lstm model;
  ModelBuilder::set(*model.node, "layout", int64_t(2));
  return model.m;
}
File clip() {
  Lstm model;
  ModelBuilder::setFloat(*model.node, "clip", 0);
  return model.m;
}
File types() {
  Lstm model({2, "batch", 3}, {1, 8, 3}, {"", "", "h"});
  model.m.input("h", {1, "batch", 2}, onnx::TensorProto::DOUBLE);
  return model.m;
}
File projection() {
  Lstm model({2, "batch", 3}, {1, 8, 3}, {"", "", "", "c"});
  model.m.input("c", {1, "batch", 4});
  return model.m;
}
File tooLong() { return Lstm({int64_t(1) << 40, "batch", 3}).m; }
File activation(const Names &names) {
  Lstm model;
  onnx::AttributeProto &attribute = *model.node->add_attribute();
  attribute.set_name("activations");
  attribute.set_type(onnx::AttributeProto::STRINGS);
  for (const std::string &name : names)
    attribute.add_strings(name);
  return model.m;
}
File activations() { return activation({"Sigmoid", "Tanh"}); }
File unknownActivation() { return activation({"Sigmoid", "Tanh", "Swish"}); }
File floatLengths() {
  Lstm model({2, "batch", 3}, {1, 8, 3}, {"", "lengths"});
  model.m.input("lengths", {"batch"});
  return model.m;
}
File longLength() {
  Lstm model({2, "batch", 3}, {1, 8, 3}, {"", "lengths"});
  model.m.ints("lengths", {1, 3});
  return model.m;
}
} // namespace

void addRecurrentModels(ModelTable &table) {
  table["lstm-one-bias"] = oneBiasOfKeras;
  table["lstm-two-biases"] = oneBiasOfPyTorch;
  table["lstm-direction"] = direction;
  table["lstm-rank"] = rank;
  table["lstm-weights"] = weights;
  table["lstm-hidden-size"] = hiddenSize;
  table["lstm-layout"] = layout;
  table["lstm-clip"] = clip;
  table["lstm-types"] = types;
  table["lstm-projection"] = projection;
  table["lstm-too-long"] = tooLong;
  table["lstm-activations"] = activations;
  table["lstm-unknown-activation"] = unknownActivation;
  table["lstm-float-lengths"] = floatLengths;
  table["lstm-long-length"] = longLength;
}

} // namespace dtc::test
