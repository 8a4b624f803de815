//===- SoundModels.cpp - models that dtc imports --------------------------===//
//
// One model for each feature of the importer.
//
//===----------------------------------------------------------------------===//

#include "Models.h"

#include <cmath>
#include <limits>
#include <numeric>

namespace dtc::test {

namespace {
ModelBuilder start(const Dims &dims, int64_t opset = 17) {
  ModelBuilder m(opset);
  m.input("x", dims);
  m.output("y");
  return m;
}

File external() {
  ModelBuilder m = start({"batch", 4});
  m.makeExternal(m.weight("w", {4, 2}), "weights.bin", 16, 32);
  m.node("MatMul", "product", {"x", "w"}, {"y"});
  File file = m;
  file.externalName = "weights.bin";
  for (int i = 0; i < 48; ++i)
    file.externalBytes.push_back("0123"[i % 4]);
  return file;
}

/// A token embedding whose transpose is the output layer, as PyTorch exports
/// it, and two equal matrices of ones, which are not tied.
File tied() {
  ModelBuilder m = start({"batch", 8});
  m.graph().clear_input();
  m.input("x", {"batch", 8}, onnx::TensorProto::INT64);
  std::vector<float> table(64 * 32), transposed(64 * 32);
  for (int i = 0; i < 64; ++i)
    for (int j = 0; j < 32; ++j)
      table[i * 32 + j] = transposed[j * 64 + i] = float(i * 32 + j);
  m.weight("onnx::MatMul_9", {32, 64}, transposed);
  m.weight("embedding.weight", {64, 32}, table);
  m.weight("scale", {64, 64}, std::vector<float>(64 * 64, 1));
  m.weight("shift", {64, 64}, std::vector<float>(64 * 64, 1));
  m.node("Gather", "embedding", {"embedding.weight", "x"}, {"e"});
  m.node("MatMul", "head", {"e", "onnx::MatMul_9"}, {"h"});
  m.node("MatMul", "scaled", {"h", "scale"}, {"s"});
  m.node("MatMul", "shifted", {"s", "shift"}, {"y"});
  return m;
}

/// Two layers that share their weight, and a weight with a NaN.
File tiedLayers() {
  ModelBuilder m = start({"batch", 4});
  m.weight("a.weight", {4, 4});
  m.weight("b.weight", {4, 4});
  m.node("MatMul", "a", {"x", "a.weight"}, {"h"});
  m.node("MatMul", "b", {"h", "b.weight"}, {"y"});
  return m;
}
File notANumber() {
  ModelBuilder m = start({"batch", 2});
  m.weight("a.weight", {2, 2}, {0, 1, std::nanf(""), 3});
  m.weight("b.weight", {2, 2});
  m.node("MatMul", "a", {"x", "a.weight"}, {"h"});
  m.node("MatMul", "b", {"h", "b.weight"}, {"y"});
  return m;
}

/// A layer that is called twice, as TorchScript's exporter writes it.
File calledTwice() {
  ModelBuilder m = start({"batch", 4});
  std::vector<float> values(16);
  std::iota(values.begin(), values.end(), 1);
  m.weight("onnx::MatMul_1", {4, 4}, values);
  m.node("Identity", "Identity_1", {"onnx::MatMul_1"}, {"onnx::MatMul_2"});
  m.node("MatMul", "/h/MatMul", {"x", "onnx::MatMul_1"}, {"h"});
  m.node("MatMul", "/h_1/MatMul", {"h", "onnx::MatMul_2"}, {"y"});
  return m;
}

/// `x @ w.t() @ w` outside of all layers, and a layer that starts as `w`.
File transposedCopy() {
  ModelBuilder m = start({"batch", 6});
  std::vector<float> values(24), transposed(24);
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 6; ++j)
      values[i * 6 + j] = transposed[j * 4 + i] = float(i * 6 + j);
  m.weight("w", {4, 6}, values);
  m.weight("onnx::MatMul_5", {6, 4}, transposed);
  m.weight("onnx::MatMul_6", {6, 4}, transposed);
  m.node("MatMul", "/MatMul", {"x", "onnx::MatMul_5"}, {"a"});
  m.node("MatMul", "/MatMul_1", {"a", "w"}, {"b"});
  m.node("MatMul", "/layer/MatMul", {"b", "onnx::MatMul_6"}, {"y"});
  return m;
}

/// Transposed weights with names that PyTorch's exporter invents, in nodes that
/// are named after their modules: a layer of a list, two products of one
/// module, a member of a container, one whose name is taken, one without a
/// module.
File generatedNames() {
  ModelBuilder m = start({"batch", 4});
  const char *nodes[] = {"/h.0/c_attn/MatMul", "/h.0/mix/MatMul",
                         "/h.0/mix/MatMul_1",  "/net/net.0/MatMul",
                         "/head/MatMul",       "/MatMul"};
  std::string x = "x";
  for (int i = 0; i < 6; ++i) {
    std::string weight = "onnx::MatMul_" + std::to_string(10 + i);
    std::string y = i == 5 ? "z" : "h" + std::to_string(i);
    std::vector<float> values(16, float(i));
    values[0] = 1;
    m.weight(weight, {4, 4}, values);
    m.node("MatMul", nodes[i], {x, weight}, {y});
    x = y;
  }
  m.weight("head.weight", {4});
  m.node("Mul", "/head/Mul", {"z", "head.weight"}, {"scaled"});
  m.weight("_norm.weight", {4}); // of a module
  m.node("Mul", "/_norm/Mul", {"scaled", "_norm.weight"}, {"y"});
  return m;
}

/// Keras exports with PyTorch's exporter. Casts without effect take the names
/// of all tensors. The zeros are two biases, and the subtrahend of a norm.
File lostNames() {
  ModelBuilder m = start({"batch", 4});
  auto cast = [&](const std::string &from, const std::string &to) {
    m.set(m.node("Cast", "", {from}, {to}), "to",
          int64_t(onnx::TensorProto::FLOAT));
  };
  m.weight("onnx::MatMul_1", {4, 4});
  m.weight("onnx::Add_2", {4}, {0, 0, 0, 0});
  m.node("Identity", "", {"onnx::Add_2"}, {"onnx::Sub_3"});
  m.node("Identity", "", {"onnx::Add_2"}, {"onnx::Add_6"});
  m.weight("onnx::MatMul_4", {4, 4});
  m.weight("onnx::Add_5", {1, 4}, {1, 2, 3, 4});
  m.node("MatMul", "", {"x", "onnx::MatMul_1"}, {"a"});
  cast("a", "b");
  m.node("Add", "", {"b", "onnx::Add_2"}, {"c"});
  m.node("Sub", "", {"c", "onnx::Sub_3"}, {"d"});
  m.node("MatMul", "", {"d", "onnx::MatMul_4"}, {"e"});
  m.node("Transpose", "", {"e"}, {"f"});
  m.set(*m.graph().mutable_node()->rbegin(), "perm",
        std::vector<int64_t>{0, 1});
  cast("f", "g");
  m.node("Add", "", {"g", "onnx::Add_5"}, {"h"});
  m.weight("onnx::MatMul_7", {4, 4}, std::vector<float>(16, 7));
  m.node("MatMul", "", {"h", "onnx::MatMul_7"}, {"i"});
  m.node("Add", "", {"i", "onnx::Add_6"}, {"j"});
  // A folded tensor of one element.
  m.weight("onnx::Mul_8", {1}, {3});
  m.node("Mul", "", {"j", "onnx::Mul_8"}, {"y"});
  return m;
}

/// Folded numbers: a scale, which may be the model's, and a temperature.
File lostNumbers() {
  ModelBuilder m = start({"batch", 4});
  m.model.set_producer_name("pytorch");
  m.weight("w", {4, 4});
  m.weight("onnx::Mul_1", Ints{}, {2});
  m.weight("onnx::Exp_2", Ints{}, {1});
  m.node("MatMul", "", {"x", "w"}, {"a"});
  m.node("Mul", "", {"a", "onnx::Mul_1"}, {"b"});
  m.node("Exp", "", {"onnx::Exp_2"}, {"c"});
  m.node("Mul", "", {"b", "c"}, {"y"});
  return m;
}

/// Like lostNames, but the norm subtracts the zeros of the file.
File lostBias() {
  ModelBuilder m = start({"batch", 4});
  m.weight("onnx::Sub_1", {4}, {0, 0, 0, 0});
  m.node("Identity", "", {"onnx::Sub_1"}, {"onnx::Add_2"});
  m.weight("onnx::MatMul_3", {4, 4});
  m.node("Sub", "", {"x", "onnx::Sub_1"}, {"a"});
  m.node("MatMul", "", {"a", "onnx::MatMul_3"}, {"b"});
  m.node("Add", "", {"b", "onnx::Add_2"}, {"y"});
  return m;
}

/// A layer whose zero bias tf2onnx left out, and one that has its bias.
File zeroBias() {
  ModelBuilder m = start({"batch", 4});
  m.model.set_producer_name("tf2onnx");
  m.weight("dense/kernel", {4, 4});
  m.weight("head/kernel", {4, 4});
  m.weight("head/bias", {4});
  m.node("MatMul", "dense", {"x", "dense/kernel"}, {"a"});
  m.node("Relu", "relu", {"a"}, {"b"});
  m.node("MatMul", "head", {"b", "head/kernel"}, {"c"});
  m.node("Add", "add", {"c", "head/bias"}, {"y"});
  return m;
}

/// One initializer of zeros under three names, as PyTorch exports it.
File shared() {
  ModelBuilder m = start({"batch", 4});
  m.weight("a.bias", {4}, {0, 0, 0, 0});
  m.weight("w", {4}, {1, 2, 3, 4});
  m.node("Identity", "", {"a.bias"}, {"b.bias"});
  m.node("Identity", "", {"w"}, {"v"});
  m.node("Add", "first", {"x", "a.bias"}, {"h"});
  m.node("Add", "second", {"h", "b.bias"}, {"k"});
  m.node("Mul", "third", {"k", "w"}, {"l"});
  m.node("Mul", "fourth", {"l", "v"}, {"y"});
  return m;
}

/// A weight and a number as Constant nodes.
File constantWeights() {
  ModelBuilder m = start({"batch", 4});
  m.setTensor(m.node("Constant", "", {}, {"fc.w_0"}), "value", {1, 2, 3, 4});
  m.setTensor(m.node("Constant", "", {}, {"_two"}), "value", {2, 2, 2, 2});
  m.node("Mul", "twice", {"x", "_two"}, {"z"});
  m.node("MatMul", "product", {"z", "fc.w_0"}, {"y"});
  return m;
}

/// Tensors that are not trained: a scalar, a mask, a bound, a Constant node,
/// and a weight that only influences a shape.
File notTrained() {
  ModelBuilder m = start({"batch", 4});
  float inf = std::numeric_limits<float>::infinity();
  m.weight("scale", {}, {0.5});
  m.weight("mask", {1, 4}, {0, -inf, 0, -inf});
  m.weight("bound", {}, {6});
  m.weight("shapeOnly", {4, 1});
  m.weight("one.bias", {1}, {2});
  m.setTensor(m.node("Constant", "constant", {}, {"c"}), "value", {0, 1, 2, 3});
  m.node("Mul", "scaled", {"x", "scale"}, {"a"});
  m.node("Add", "masked", {"a", "mask"}, {"b"});
  m.node("Clip", "clipped", {"b", "", "bound"}, {"d"});
  m.node("Add", "shifted", {"d", "c"}, {"e"});
  m.node("Shape", "shape", {"shapeOnly"}, {"f"});
  m.ints("row", {1, 4});
  m.node("Mul", "target", {"f", "row"}, {"g"});
  m.node("Gather", "reversed", {"g", "order"}, {"k"});
  m.ints("order", {1, 0});
  m.ints("any", {-1, 4});
  m.node("Min", "least", {"k", "any"}, {"l"});
  m.node("Reshape", "reshaped", {"e", "l"}, {"n"});
  m.node("Add", "biased", {"n", "one.bias"}, {"y"});
  return m;
}

/// Paddle's names: a group norm as an InstanceNormalization, and a scale.
File paddle() {
  ModelBuilder m = start({"batch", 4});
  m.weight("fc.w_0", {4, 4});
  m.weight("helper.constant.1", {2}, {1, 1});
  m.weight("helper.constant.2", {2}, {0, 0});
  m.weight("auto.cast.0", {1}, {0.5});
  m.ints("groups", {0, 2, -1});
  m.ints("shape", {-1, 4});
  m.node("MatMul", "fc", {"x", "fc.w_0"}, {"a"});
  m.node("Reshape", "apart", {"a", "groups"}, {"b"});
  m.node("InstanceNormalization", "norm",
         {"b", "helper.constant.1", "helper.constant.2"}, {"c"});
  m.node("Reshape", "together", {"c", "shape"}, {"d"});
  m.node("Mul", "scaled", {"d", "auto.cast.0"}, {"y"});
  return m;
}

/// Weights without data, once as initializer and once as input.
File noData() {
  ModelBuilder m = start({"batch", 4});
  m.declare("w", {4, 2});
  m.input("fc.bias", {2});
  m.node("MatMul", "product", {"x", "w"}, {"h"});
  m.node("Add", "sum", {"h", "fc.bias"}, {"y"});
  return m;
}

/// Initializers that are also inputs, as in IR version 3; an input that no
/// output needs; nodes without names; a dead unsupported node.
File oldStyle() {
  ModelBuilder m = start({"batch", 4}, 11);
  m.model.set_ir_version(3);
  m.input("w", {4, 2});
  m.input("unused", {"batch"});
  m.weight("w", {4, 2});
  m.node("MatMul", "", {"x", "w"}, {"h"});
  m.node("Frobnicate", "dead", {"h"}, {"z"});
  m.node("Relu", "", {"h"}, {"y"});
  return m;
}

/// The shape arithmetic of torch's view(x.size(0), -1, 2), and a mask that
/// repeats for each row of the batch.
File folded() {
  ModelBuilder m = start({"batch", 6});
  m.node("Shape", "shape", {"x"}, {"s"});
  m.ints("zero", {0});
  m.ints("one", {1});
  m.ints("minusOne", {-1});
  m.ints("two", {2});
  m.node("Gather", "size", {"s", "zero"}, {"n"});
  m.node("Concat", "target", {"n", "minusOne", "two"}, {"t"});
  m.set(*m.graph().mutable_node()->rbegin(), "axis", 0);
  m.node("Reshape", "view", {"x", "t"}, {"v"});
  m.ints("limit", {3});
  m.node("Shape", "viewShape", {"v"}, {"vs"});
  m.node("ConstantOfShape", "zeros", {"vs"}, {"z"});
  m.weight("row", {3, 1}, {0, 1e9, 0});
  m.node("Add", "repeated", {"z", "row"}, {"mask"});
  m.node("Add", "masked", {"v", "mask"}, {"y"});
  return m;
}

/// x[rows, columns] with all rows and columns, as exporters write it: the
/// places of all elements, in the shape of the result.
File counted() {
  ModelBuilder m = start({4, 3});
  m.ints("minusOne", {-1});
  m.node("Reshape", "view", {"x", "minusOne"}, {"v"});
  Ints places(12);
  std::iota(places.begin(), places.end(), 0);
  onnx::TensorProto &tensor = m.ints("places", places);
  tensor.clear_dims();
  for (int64_t dim : {4, 1, 3})
    tensor.add_dims(dim);
  m.node("Gather", "lookup", {"v", "places"}, {"y"});
  return m;
}

File matmuls() {
  ModelBuilder m(17);
  m.input("a", {"batch", 3, 4});
  m.input("b", {"batch", 5, 4});
  m.input("v", {4});
  m.weight("w", {4, 2});
  m.weight("u", {2, 4});
  m.weight("bias", {2});
  m.node("MatMul", "weight", {"a", "w"}, {"y0"});
  m.node("Transpose", "flip", {"b"}, {"bt"});
  m.set(*m.graph().mutable_node()->rbegin(), "perm", Ints{0, 2, 1});
  m.node("MatMul", "batched", {"a", "bt"}, {"y1"});
  m.node("MatMul", "vector", {"a", "v"}, {"y2"});
  m.node("Flatten", "rows", {"b"}, {"f"});
  m.node("MatMul", "left", {"u", "bt"}, {"y3"});
  m.ints("four", {-1, 4});
  m.node("Reshape", "matrix", {"a", "four"}, {"ma"});
  onnx::NodeProto &gemm = m.node("Gemm", "gemm", {"ma", "u", "bias"}, {"y4"});
  m.set(gemm, "transB", 1);
  m.setFloat(gemm, "alpha", 0.5);
  for (const char *name : {"y0", "y1", "y2", "y3", "y4"})
    m.output(name);
  return m;
}

File normalisations() {
  ModelBuilder m(11);
  m.model.mutable_opset_import(0)->set_version(17);
  m.input("x", {"batch", 3, 4});
  m.weight("scale", {3, 4});
  m.node("Softmax", "softmax", {"x"}, {"y0"});
  m.set(*m.graph().mutable_node()->rbegin(), "axis", 1);
  m.node("LayerNormalization", "norm", {"x", "scale"}, {"y1"});
  m.set(*m.graph().mutable_node()->rbegin(), "axis", -2);
  m.node("ReduceMean", "mean", {"x"}, {"y2"});
  m.set(*m.graph().mutable_node()->rbegin(), "axes", Ints{-1});
  m.set(*m.graph().mutable_node()->rbegin(), "keepdims", 0);
  m.node("ReduceMin", "least", {"x"}, {"y3"});
  for (const char *name : {"y0", "y1", "y2", "y3"})
    m.output(name);
  return m;
}

/// Before opset 13 softmax joins all dimensions from its axis on.
File oldSoftmax() {
  ModelBuilder m = start({"batch", 3, 4}, 11);
  m.node("Softmax", "softmax", {"x"}, {"y"});
  return m;
}

/// Vectors that are scales of norms, slopes and biases.
File vectors() {
  ModelBuilder m = start({"batch", 4});
  for (const char *name : {"norm.weight", "norm.bias", "spelt.weight", "slope"})
    m.declare(name, {4});
  m.node("LayerNormalization", "norm", {"x", "norm.weight", "norm.bias"},
         {"a"});
  m.node("Mul", "spelt", {"spelt.weight", "a"}, {"b"});
  m.node("PRelu", "prelu", {"b", "slope"}, {"y"});
  return m;
}

File shapes() {
  ModelBuilder m(17);
  m.input("x", {"batch", 6});
  m.weight("w", {3, 5, 2});
  m.ints("starts", {1, -3});
  m.ints("ends", {std::numeric_limits<int64_t>::max(), -1});
  m.ints("axes", {0, 1});
  m.node("Slice", "slice", {"w", "starts", "ends", "axes"}, {"y0"});
  m.ints("index", {2, 0});
  m.node("Gather", "gather", {"w", "index"}, {"y1"});
  m.set(*m.graph().mutable_node()->rbegin(), "axis", 1);
  m.node("Split", "split", {"x"}, {"a", "b"});
  m.set(*m.graph().mutable_node()->rbegin(), "axis", 1);
  m.node("Concat", "concat", {"b", "a"}, {"y2"});
  m.set(*m.graph().mutable_node()->rbegin(), "axis", -1);
  m.ints("pads", {0, 1, 0, 2});
  m.node("Pad", "pad", {"x", "pads"}, {"y3"});
  m.ints("repeats", {1, 2});
  m.node("Tile", "tile", {"x", "repeats"}, {"y4"});
  m.ints("last", {-1});
  m.node("Unsqueeze", "unsqueeze", {"x", "last"}, {"y5"});
  m.node("Greater", "mask", {"a", "b"}, {"mask"});
  m.node("Pad", "padded mask", {"mask", "pads"}, {"padded"});
  m.node("Cast", "padded numbers", {"padded"}, {"y6"});
  m.set(*m.graph().mutable_node()->rbegin(), "to",
        int64_t(onnx::TensorProto::FLOAT));
  for (const char *name : {"y0", "y1", "y2", "y3", "y4", "y5", "y6"})
    m.output(name);
  return m;
}

/// Numbers that wrap around in narrow types, known and computed.
File narrow() {
  ModelBuilder m;
  m.input("x", {"batch", 4});
  m.input("n", {"batch", 4}, onnx::TensorProto::INT64);
  m.ints("numbers", {1, 200, 300, -129});
  auto cast = [&](const char *from, const char *to, int type) {
    m.set(m.node("Cast", to, {from}, {to}), "to", int64_t(type));
  };
  cast("numbers", "signed", onnx::TensorProto::INT8);
  cast("signed", "a", onnx::TensorProto::FLOAT);
  cast("numbers", "unsigned", onnx::TensorProto::UINT8);
  cast("unsigned", "b", onnx::TensorProto::FLOAT);
  cast("n", "short", onnx::TensorProto::UINT16);
  cast("short", "c", onnx::TensorProto::FLOAT);
  m.node("Sum", "sum", {"x", "a"}, {"y0"});
  m.node("Sum", "sum", {"x", "b"}, {"y1"});
  m.node("Sum", "sum", {"x", "c"}, {"y2"});
  for (const char *name : {"y0", "y1", "y2"})
    m.output(name);
  return m;
}

File elementwise() {
  ModelBuilder m(20);
  m.input("x", {"batch", 4});
  m.input("n", {"batch", 4}, onnx::TensorProto::INT64);
  m.weight("three", {}, {3});
  m.node("Pow", "cube", {"x", "three"}, {"y0"});
  m.node("LeakyRelu", "leaky", {"x"}, {"y1"});
  m.node("Gelu", "gelu", {"x"}, {"y2"});
  m.node("Greater", "positive", {"x", "three"}, {"p"});
  m.node("Where", "choice", {"p", "x", "three"}, {"y3"});
  m.node("Cast", "cast", {"n"}, {"y4"});
  m.set(*m.graph().mutable_node()->rbegin(), "to",
        int64_t(onnx::TensorProto::FLOAT));
  m.node("Dropout", "dropout", {"x"}, {"d"});
  m.node("Sum", "sum", {"d", "x", "three"}, {"y5"});
  for (const char *name : {"y0", "y1", "y2", "y3", "y4", "y5"})
    m.output(name);
  return m;
}

/// 1.5, -0.25, 2^-24, 65504 as f16, in bytes and as integers, and 1.5 as bf16.
/// The cast to f16 rounds nothing.
File float16() {
  ModelBuilder m;
  m.input("x", {"batch", 4}, onnx::TensorProto::FLOAT16);
  onnx::TensorProto &raw = m.weight("raw", {4});
  raw.set_data_type(onnx::TensorProto::FLOAT16);
  raw.clear_float_data();
  raw.set_raw_data(std::string("\x00\x3e\x00\xb4\x01\x00\xff\x7b", 8));
  onnx::TensorProto &typed = m.weight("typed", {4});
  typed.set_data_type(onnx::TensorProto::FLOAT16);
  typed.clear_float_data();
  typed.clear_raw_data();
  for (int bits : {0x3e00, 0xb400, 0x0001, 0x7bff})
    typed.add_int32_data(bits);
  onnx::TensorProto &brain = m.weight("brain", {1});
  brain.set_data_type(onnx::TensorProto::BFLOAT16);
  brain.clear_float_data();
  brain.set_raw_data(std::string("\xc0\x3f", 2));
  m.node("Mul", "first", {"x", "raw"}, {"a"});
  m.node("Add", "second", {"a", "typed"}, {"b"});
  m.set(m.node("Cast", "same", {"b"}, {"c"}), "to",
        int64_t(onnx::TensorProto::FLOAT16));
  m.node("Mul", "third", {"c", "brain"}, {"y"});
  m.output("y", onnx::TensorProto::FLOAT16);
  return m;
}

/// Tensors that TorchScript computed from parameters, in roles where it keeps
/// the names of parameters: a table, a bias, a scale, an operand of a
/// contraction. The operand of another operator is only reshaped.
File computedRoles() {
  ModelBuilder m;
  m.input("x", {"batch", 4});
  m.input("i", {"batch"}, onnx::TensorProto::INT64);
  m.weight("onnx::Gather_1", {5, 4});
  m.weight("w", {4, 4});
  m.weight("onnx::Gemm_2", {4});
  m.weight("onnx::LayerNormalization_3", {4});
  m.weight("onnx::Einsum_4", {4, 4});
  m.weight("onnx::PRelu_5", {4, 1}, {1, 2, 3, 4});
  m.node("Gather", "/Gather", {"onnx::Gather_1", "i"}, {"e"});
  m.node("Add", "/Add", {"x", "e"}, {"a"});
  m.node("Gemm", "/Gemm", {"a", "w", "onnx::Gemm_2"}, {"b"});
  m.node("LayerNormalization", "/LayerNormalization",
         {"b", "onnx::LayerNormalization_3"}, {"c"});
  ModelBuilder::set(m.node("Einsum", "/Einsum", {"c", "onnx::Einsum_4"}, {"d"}),
                    "equation", std::string("bi,oi->bo"));
  m.ints("shape", {0, 4, 1});
  m.node("Reshape", "/Reshape", {"d", "shape"}, {"f"});
  m.node("PRelu", "/PRelu", {"f", "onnx::PRelu_5"}, {"y"});
  m.output("y");
  return m;
}

/// A linear layer's weight that a mask made partly zero.
File maskedWeight() {
  ModelBuilder m;
  m.input("x", {"batch", 2});
  m.weight("onnx::MatMul_1", {2, 2}, {1, 0, 2, 3});
  m.weight("layer.bias", {2});
  m.node("MatMul", "/layer/MatMul", {"x", "onnx::MatMul_1"}, {"h"});
  m.node("Add", "/layer/Add", {"layer.bias", "h"}, {"y"});
  m.output("y");
  return m;
}

/// Values whose declared rank is wrong.
File otherRank() {
  ModelBuilder m;
  m.input("x", {"batch", 4});
  m.weight("w", {4, 4});
  m.node("MatMul", "product", {"x", "w"}, {"h"});
  m.node("Relu", "activation", {"h"}, {"y"});
  for (const char *name : {"h", "nowhere"}) {
    onnx::ValueInfoProto &value = *m.graph().add_value_info();
    value.set_name(name);
    value.mutable_type()->mutable_tensor_type()->mutable_shape();
  }
  m.output("y");
  return m;
}
} // namespace

void addSoundModels(ModelTable &table) {
  table["computed-roles"] = computedRoles;
  table["masked-weight"] = maskedWeight;
  table["other-rank"] = otherRank;
  table["float16"] = float16;
  table["external"] = external;
  table["called-twice"] = calledTwice;
  table["tied"] = tied;
  table["tied-layers"] = tiedLayers;
  table["not-a-number"] = notANumber;
  table["transposed-copy"] = transposedCopy;
  table["generated-names"] = generatedNames;
  table["lost-names"] = lostNames;
  table["lost-numbers"] = lostNumbers;
  table["lost-bias"] = lostBias;
  table["zero-bias"] = zeroBias;
  table["shared"] = shared;
  table["constant-weights"] = constantWeights;
  table["not-trained"] = notTrained;
  table["paddle"] = paddle;
  table["no-data"] = noData;
  table["old-style"] = oldStyle;
  table["counted"] = counted;
  table["folded"] = folded;
  table["narrow"] = narrow;
  table["matmuls"] = matmuls;
  table["normalisations"] = normalisations;
  table["old-softmax"] = oldSoftmax;
  table["vectors"] = vectors;
  table["shapes"] = shapes;
  table["elementwise"] = elementwise;
}

} // namespace dtc::test
