//===- Network.cpp - builds the graph of a model --------------------------===//
//
// See Network.h. All operators are those of opset 17.
//
//===----------------------------------------------------------------------===//

#include "Network.h"

#include <cmath>

namespace dtc::model {

int64_t Parameter::elements() const {
  int64_t count = 1;
  for (int64_t dim : shape)
    count *= dim;
  return count;
}

std::string Network::parameter(const std::string &name, const Ints &shape,
                               const Start &start) {
  int number = builder.graph().initializer_size();
  builder.declare(name, shape);
  parameters.push_back({name, shape, start, number});
  return name;
}

std::string Network::statistic(const std::string &name, const Ints &shape,
                               const Start &start) {
  parameter(name, shape, start);
  parameters.back().isTrained = false;
  return name;
}

std::string Network::uniqueName(const std::string &path,
                                const std::string &op) {
  std::string name = path + "/" + op;
  int count = counts[name]++;
  return count ? name + "_" + std::to_string(count) : name;
}

std::string Network::apply(const std::string &path, const std::string &op,
                           const Names &operands,
                           const Attributes &attributes) {
  std::string name = uniqueName(path, op);
  onnx::NodeProto &node = builder.node(op, name, operands, {name});
  for (const auto &[attribute, value] : attributes) {
    if (auto *number = std::get_if<int64_t>(&value))
      builder.set(node, attribute, *number);
    else if (auto *numbers = std::get_if<Ints>(&value))
      builder.set(node, attribute, *numbers);
    else
      builder.setFloat(node, attribute, std::get<float>(value));
  }
  return name;
}

Names Network::split(const std::string &path, const std::string &value,
                     int parts) {
  std::string name = uniqueName(path, "Split");
  Names results;
  for (int part = 0; part < parts; ++part)
    results.push_back(name + ":" + std::to_string(part));
  builder.set(builder.node("Split", name, {value}, results), "axis",
              int64_t(-1));
  return results;
}

std::string Network::constantName() {
  return "constant_" +
         std::to_string(scalars.size() + indices.size() + vectors.size());
}

std::string Network::scalar(float value) {
  std::string &name = scalars[value];
  if (name.empty())
    builder.weight(name = constantName(), {}, {value});
  return name;
}

std::string Network::index(int64_t value) {
  std::string &name = indices[value];
  if (name.empty())
    builder.ints(name = constantName(), {value}).clear_dims();
  return name;
}

std::string Network::yes() {
  if (truth.empty()) {
    onnx::TensorProto &tensor = *builder.graph().add_initializer();
    tensor.set_name(truth = "true");
    tensor.set_data_type(onnx::TensorProto::BOOL);
    tensor.add_int32_data(1);
  }
  return truth;
}

std::string Network::ints(const Ints &values) {
  std::string &name = vectors[values];
  if (name.empty())
    builder.ints(name = constantName(), values);
  return name;
}

std::string Network::affine(const std::string &path, const std::string &x,
                            int64_t in, int64_t out, const Start &start) {
  std::string weight = parameter(path + ".weight", {in, out}, start);
  std::string bias = parameter(path + ".bias", {out}, zeros);
  flops += 6.0 * in * out;
  return apply(path, "Add", {apply(path, "MatMul", {x, weight}), bias});
}

std::string Network::linear(const std::string &path, const std::string &x,
                            int64_t in, int64_t out, const Start &start) {
  return multiplyTransposed(
      path, x, parameter(path + ".weight", {out, in}, start), in, out);
}

std::string Network::multiplyTransposed(const std::string &path,
                                        const std::string &x,
                                        const std::string &weight, int64_t in,
                                        int64_t out) {
  flops += 6.0 * in * out;
  std::string transposed =
      apply(path, "Transpose", {weight}, {{"perm", Ints{1, 0}}});
  return apply(path, "MatMul", {x, transposed});
}

std::string Network::gelu(const std::string &path, const std::string &x) {
  std::string cube = apply(path, "Pow", {x, scalar(3)});
  std::string sum =
      apply(path, "Add", {x, apply(path, "Mul", {cube, scalar(0.044715f)})});
  std::string inner = apply(
      path, "Mul", {sum, scalar(static_cast<float>(std::sqrt(2 / M_PI)))});
  std::string gate =
      apply(path, "Add", {apply(path, "Tanh", {inner}), scalar(1)});
  std::string half = apply(path, "Mul", {x, scalar(0.5f)});
  return apply(path, "Mul", {half, gate});
}

} // namespace dtc::model
