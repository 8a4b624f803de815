//===- ModelBuilder.cpp - short forms for writing ONNX models -------------===//
//
// Builds valid or invalid models, without checks.
//
//===----------------------------------------------------------------------===//

#include "ModelBuilder.h"

namespace dtc::model {

ModelBuilder::ModelBuilder(int64_t opset, const std::string &name) {
  model.set_ir_version(8);
  model.set_producer_name("dtc");
  model.add_opset_import()->set_version(opset);
  graph().set_name(name);
}

static void describe(onnx::ValueInfoProto &info, const std::string &name,
                     const Dims &dims, int type) {
  info.set_name(name);
  auto *tensor = info.mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(type);
  auto *shape = tensor->mutable_shape();
  for (const Dim &dim : dims) {
    auto *proto = shape->add_dim();
    if (dim.size)
      proto->set_dim_value(dim.size);
    else if (!dim.name.empty())
      proto->set_dim_param(dim.name);
  }
}

void ModelBuilder::input(const std::string &name, const Dims &dims, int type) {
  describe(*graph().add_input(), name, dims, type);
}

void ModelBuilder::output(const std::string &name, int type) {
  onnx::ValueInfoProto *info = graph().add_output();
  info->set_name(name);
  info->mutable_type()->mutable_tensor_type()->set_elem_type(type);
}

void ModelBuilder::output(const std::string &name, const Dims &dims) {
  describe(*graph().add_output(), name, dims, onnx::TensorProto::FLOAT);
}

onnx::NodeProto &ModelBuilder::node(const std::string &op,
                                    const std::string &name,
                                    const Names &inputs, const Names &outputs) {
  onnx::NodeProto *node = graph().add_node();
  node->set_op_type(op);
  node->set_name(name);
  for (const std::string &input : inputs)
    node->add_input(input);
  for (const std::string &output : outputs)
    node->add_output(output);
  return *node;
}

onnx::TensorProto &ModelBuilder::weight(const std::string &name,
                                        const Ints &shape) {
  int64_t count = 1;
  for (int64_t dim : shape)
    count *= dim;
  std::vector<float> values(count);
  for (int64_t i = 0; i < count; ++i)
    values[i] = float(i) / 8;
  return weight(name, shape, values);
}

onnx::TensorProto &ModelBuilder::weight(const std::string &name,
                                        const Ints &shape,
                                        const std::vector<float> &values) {
  onnx::TensorProto &tensor = declare(name, shape);
  tensor.set_raw_data(values.data(), values.size() * sizeof(float));
  return tensor;
}

onnx::TensorProto &ModelBuilder::declare(const std::string &name,
                                         const Ints &shape) {
  onnx::TensorProto *tensor = graph().add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(onnx::TensorProto::FLOAT);
  for (int64_t dim : shape)
    tensor->add_dims(dim);
  return *tensor;
}

onnx::TensorProto &ModelBuilder::ints(const std::string &name,
                                      const Ints &values) {
  onnx::TensorProto *tensor = graph().add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(onnx::TensorProto::INT64);
  tensor->add_dims(values.size());
  for (int64_t value : values)
    tensor->add_int64_data(value);
  return *tensor;
}

void ModelBuilder::set(onnx::NodeProto &node, const std::string &name,
                       int64_t value) {
  onnx::AttributeProto *attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::INT);
  attribute->set_i(value);
}

void ModelBuilder::set(onnx::NodeProto &node, const std::string &name,
                       const Ints &values) {
  onnx::AttributeProto *attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::INTS);
  for (int64_t value : values)
    attribute->add_ints(value);
}

void ModelBuilder::set(onnx::NodeProto &node, const std::string &name,
                       const std::string &value) {
  onnx::AttributeProto *attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::STRING);
  attribute->set_s(value);
}

void ModelBuilder::setFloat(onnx::NodeProto &node, const std::string &name,
                            float value) {
  onnx::AttributeProto *attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::FLOAT);
  attribute->set_f(value);
}

void ModelBuilder::setTensor(onnx::NodeProto &node, const std::string &name,
                             const std::vector<float> &values) {
  onnx::AttributeProto *attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::TENSOR);
  attribute->mutable_t()->set_data_type(onnx::TensorProto::FLOAT);
  attribute->mutable_t()->add_dims(values.size());
  for (float value : values)
    attribute->mutable_t()->add_float_data(value);
}

void ModelBuilder::makeExternal(onnx::TensorProto &tensor,
                                const std::string &location, int64_t offset,
                                int64_t length) {
  tensor.clear_raw_data();
  tensor.set_data_location(onnx::TensorProto::EXTERNAL);
  auto add = [&](const char *key, const std::string &value) {
    auto *entry = tensor.add_external_data();
    entry->set_key(key);
    entry->set_value(value);
  };
  add("location", location);
  add("offset", std::to_string(offset));
  add("length", std::to_string(length));
}

} // namespace dtc::model
