//===- ModelBuilder.h - short forms for writing ONNX models -----*- C++ -*-===//
//
// Builds valid or invalid models, without checks, for dtc-model and for the
// models of the frontend's tests.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_MODEL_MODELBUILDER_H
#define DTC_MODEL_MODELBUILDER_H

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <string>
#include <vector>

namespace dtc::model {

using Names = std::vector<std::string>;
using Ints = std::vector<int64_t>;

/// One dimension: a size, or a name if the size is 0.
struct Dim {
  int64_t size = 0;
  std::string name;
  Dim(int64_t size) : size(size) {}
  Dim(const char *name) : name(name) {}
};
using Dims = std::vector<Dim>;

class ModelBuilder {
public:
  explicit ModelBuilder(int64_t opset = 17, const std::string &name = "test");

  onnx::ModelProto model;
  onnx::GraphProto &graph() { return *model.mutable_graph(); }

  void input(const std::string &name, const Dims &dims,
             int type = onnx::TensorProto::FLOAT);
  void output(const std::string &name, int type = onnx::TensorProto::FLOAT);
  void output(const std::string &name, const Dims &dims);
  onnx::NodeProto &node(const std::string &op, const std::string &name,
                        const Names &inputs, const Names &outputs);
  /// A float initializer with elements 0, 1/8, 2/8, ...
  onnx::TensorProto &weight(const std::string &name, const Ints &shape);
  onnx::TensorProto &weight(const std::string &name, const Ints &shape,
                            const std::vector<float> &values);
  /// A float initializer without data.
  onnx::TensorProto &declare(const std::string &name, const Ints &shape);
  onnx::TensorProto &ints(const std::string &name, const Ints &values);

  static void set(onnx::NodeProto &node, const std::string &name,
                  int64_t value);
  static void set(onnx::NodeProto &node, const std::string &name,
                  const Ints &values);
  static void set(onnx::NodeProto &node, const std::string &name,
                  const std::string &value);
  static void setFloat(onnx::NodeProto &node, const std::string &name,
                       float value);
  /// An attribute that is a float tensor of rank 1.
  static void setTensor(onnx::NodeProto &node, const std::string &name,
                        const std::vector<float> &values);
  /// Marks the data of an initializer as being in an external file.
  static void makeExternal(onnx::TensorProto &tensor,
                           const std::string &location, int64_t offset,
                           int64_t length);
};

} // namespace dtc::model

#endif // DTC_MODEL_MODELBUILDER_H
