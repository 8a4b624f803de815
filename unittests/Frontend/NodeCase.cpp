//===- NodeCase.cpp - one of ONNX's node tests ----------------------------===//
//
// See NodeCase.h. Debian's package libonnx-testdata has the tests.
//
//===----------------------------------------------------------------------===//

#include "NodeCase.h"
#include "Support/TensorData.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

#include <fstream>

using namespace dtc::frontend;
namespace fs = std::filesystem;

namespace dtc::test {

static std::optional<onnx::TensorProto> readProto(const fs::path &path) {
  std::ifstream stream(path, std::ios::binary);
  onnx::TensorProto proto;
  if (!proto.ParseFromIstream(&stream))
    return std::nullopt;
  return proto;
}

/// Returns nothing for types that dtc does not support.
static std::optional<HostTensor> toTensor(const onnx::TensorProto &proto) {
  TensorReader reader("");
  llvm::Expected<TensorData> data = reader.read(proto);
  if (!data) {
    llvm::consumeError(data.takeError());
    return std::nullopt;
  }
  // A sequence parses as a tensor without data.
  if (!data->hasData)
    return std::nullopt;
  return toHostTensor(*data);
}

int NodeCase::findInput(llvm::StringRef name) const {
  for (int i = 0; i < model.graph().input_size(); ++i)
    if (model.graph().input(i).name() == name)
      return i;
  llvm::report_fatal_error("no input " + name);
}

const HostTensor &NodeCase::input(llvm::StringRef name) const {
  return inputs[findInput(name)];
}

void NodeCase::makeConstant(llvm::StringRef name) {
  for (const onnx::TensorProto &initializer : model.graph().initializer())
    if (initializer.name() == name)
      return;
  onnx::TensorProto &initializer = *model.mutable_graph()->add_initializer();
  initializer = inputProtos[findInput(name)];
  initializer.set_name(name.str());
}

std::optional<NodeCase> NodeCase::read(const fs::path &folder) {
  NodeCase result;
  std::ifstream stream(folder / "model.onnx", std::ios::binary);
  if (!result.model.ParseFromIstream(&stream) ||
      result.model.graph().node_size() != 1 ||
      result.model.opset_import_size() != 1 || result.opset() < 11)
    return std::nullopt;
  const onnx::GraphProto &graph = result.model.graph();
  // dtc reads 16-bit floats as f32 and does not round them, so skip these
  // tests.
  auto isSupported = [](const onnx::ValueInfoProto &value) {
    int type = value.type().tensor_type().elem_type();
    return toDType(type).has_value() && !frontend::isFloat16(type);
  };
  if (!llvm::all_of(graph.input(), isSupported) ||
      !llvm::all_of(graph.output(), isSupported))
    return std::nullopt;
  fs::path data = folder / "test_data_set_0";
  auto read = [&](const std::string &stem, int i, auto &tensors) {
    auto proto = readProto(data / (stem + "_" + std::to_string(i) + ".pb"));
    auto tensor = proto ? toTensor(*proto) : std::nullopt;
    if (!tensor)
      return false;
    tensors.push_back(std::move(*tensor));
    if (stem == "input")
      result.inputProtos.push_back(std::move(*proto));
    return true;
  };
  for (int i = 0; i < graph.input_size(); ++i)
    if (!read("input", i, result.inputs))
      return std::nullopt;
  for (int i = 0; i < graph.output_size(); ++i)
    if (!read("output", i, result.outputs))
      return std::nullopt;
  return result;
}

} // namespace dtc::test
