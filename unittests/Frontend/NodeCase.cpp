//===- NodeCase.cpp - one of ONNX's node tests ----------------------------===//
//
// See NodeCase.h. Debian has them in libonnx-testdata.
//
//===----------------------------------------------------------------------===//

#include "NodeCase.h"
#include "TensorData.h"

#include "llvm/Support/ErrorHandling.h"

#include <fstream>

using namespace dtc::frontend;
namespace fs = std::filesystem;

namespace dtc::test {

/// A tensor file of the data, or nothing for types that dtc does not have.
static std::optional<HostTensor> readTensor(const fs::path &path) {
  std::ifstream stream(path, std::ios::binary);
  onnx::TensorProto proto;
  if (!proto.ParseFromIstream(&stream))
    return std::nullopt;
  TensorReader reader(path.string());
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

/// `count` files called `stem`_0.pb and so on; fewer when one can not be read.
static std::vector<HostTensor> readTensors(const fs::path &folder,
                                           const std::string &stem, int count) {
  std::vector<HostTensor> result;
  for (int i = 0; i < count; ++i) {
    auto tensor = readTensor(folder / (stem + "_" + std::to_string(i) + ".pb"));
    if (!tensor)
      break;
    result.push_back(std::move(*tensor));
  }
  return result;
}

const HostTensor &NodeCase::input(llvm::StringRef name) const {
  for (int i = 0; i < model.graph().input_size(); ++i)
    if (model.graph().input(i).name() == name)
      return inputs[i];
  llvm::report_fatal_error("no input " + name);
}

std::optional<NodeCase> NodeCase::read(const fs::path &folder) {
  NodeCase result;
  result.modelPath = (folder / "model.onnx").string();
  std::ifstream stream(result.modelPath, std::ios::binary);
  if (!result.model.ParseFromIstream(&stream) ||
      result.model.graph().node_size() != 1 ||
      result.model.opset_import_size() != 1 || result.opset() < 11)
    return std::nullopt;
  const onnx::GraphProto &graph = result.model.graph();
  fs::path data = folder / "test_data_set_0";
  result.inputs = readTensors(data, "input", graph.input_size());
  result.outputs = readTensors(data, "output", graph.output_size());
  if (int(result.inputs.size()) != graph.input_size() ||
      int(result.outputs.size()) != graph.output_size())
    return std::nullopt;
  return result;
}

} // namespace dtc::test
