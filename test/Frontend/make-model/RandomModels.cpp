//===- RandomModels.cpp - dropout and random numbers ----------------------===//
//
// Models from PyTorch's exporters, and from older ones.
//
//===----------------------------------------------------------------------===//

#include "Models.h"

namespace dtc::test {

namespace {
void addTruth(ModelBuilder &m, const std::string &name, bool value) {
  onnx::TensorProto &mode = m.ints(name, {value});
  mode.clear_int64_data();
  mode.clear_dims();
  mode.set_data_type(onnx::TensorProto::BOOL);
  mode.add_int32_data(value);
}

/// A Dropout that states training mode, one without a mode (as in exported
/// attention), one in evaluation mode, and one whose mask is used.
File dropout() {
  ModelBuilder m;
  m.input("x", {"batch", 4});
  m.weight("tenth", {}, {0.1f});
  m.weight("half", {}, {0.5f});
  addTruth(m, "yes", true);
  addTruth(m, "no", false);
  m.node("Dropout", "/attention/Dropout", {"x", "tenth"}, {"a"});
  m.node("Dropout", "/block/drop/Dropout", {"a", "half", "yes"}, {"b"});
  m.node("Dropout", "/off/Dropout", {"b", "half", "no"}, {"c"});
  m.node("Dropout", "/mask/Dropout", {"c", "half", "yes"}, {"d", "kept"});
  m.node("Where", "where", {"kept", "d", "half"}, {"y"});
  m.output("y");
  return m;
}

/// An export in evaluation mode: no Dropout has a mode.
File idleDropout() {
  ModelBuilder m;
  m.input("x", {"batch", 4});
  m.node("Dropout", "/drop/Dropout", {"x"}, {"y"});
  m.output("y");
  return m;
}

/// The ratio is an attribute.
File oldDropout() {
  ModelBuilder m(11);
  m.input("x", {"batch", 4});
  m.setFloat(m.node("Dropout", "/drop/Dropout", {"x"}, {"y"}), "ratio", 0.25f);
  m.output("y");
  return m;
}

/// A Bernoulli variable as random numbers that are compared with its
/// probability. Its shape comes from a constant. Then other random numbers.
File random() {
  ModelBuilder m;
  m.input("x", {"batch", 4});
  m.weight("like", {2, 1});
  m.weight("keep", {}, {0.75f});
  m.node("RandomUniformLike", "numbers", {"like"}, {"u"});
  m.node("Less", "less", {"u", "keep"}, {"sampled"});
  m.set(m.node("Cast", "cast", {"sampled"}, {"bernoulli"}), "to",
        int64_t(onnx::TensorProto::FLOAT));
  m.node("Div", "div", {"bernoulli", "keep"}, {"scaled"});
  m.node("Mul", "path", {"x", "scaled"}, {"a"});
  onnx::NodeProto &noise = m.node("RandomUniformLike", "noise", {"x"}, {"n"});
  m.setFloat(noise, "low", -1);
  m.setFloat(noise, "high", 2);
  m.node("Add", "add", {"a", "n"}, {"b"});
  m.node("Sigmoid", "sigmoid", {"b"}, {"p"});
  m.node("Bernoulli", "sample", {"p"}, {"s"});
  m.node("RandomNormalLike", "normal", {"x"}, {"z"});
  m.node("Mul", "mul", {"b", "s"}, {"c"});
  m.node("Add", "last", {"c", "z"}, {"y"});
  m.output("y");
  return m;
}

/// Bernoulli variables as dynamo writes them without its optimizer, and as
/// people write them.
File bernoulli() {
  ModelBuilder m;
  m.input("x", {"batch", 4});
  m.weight("like", {2, 1});
  m.weight("keep", {}, {0.75f});
  m.node("RandomUniformLike", "numbers", {"like"}, {"u"});
  m.node("CastLike", "bound", {"keep", "u"}, {"p"});
  m.node("Less", "less", {"u", "p"}, {"sampled"});
  m.node("CastLike", "cast", {"sampled", "like"}, {"bernoulli"});
  m.node("Mul", "path", {"x", "bernoulli"}, {"a"});
  m.node("RandomUniformLike", "more", {"like"}, {"v"});
  m.node("Add", "add", {"keep", "v"}, {"sum"});
  m.node("Floor", "floor", {"sum"}, {"binary"});
  m.node("Mul", "last", {"a", "binary"}, {"y"});
  m.output("y");
  return m;
}
} // namespace

void addRandomModels(ModelTable &table) {
  table["dropout"] = dropout;
  table["idle-dropout"] = idleDropout;
  table["old-dropout"] = oldDropout;
  table["random"] = random;
  table["bernoulli"] = bernoulli;
}

} // namespace dtc::test
