//===- ConformanceTest.cpp - the evaluator against ONNX's own data --------===//
//
// Runs every node test of ONNX whose operators the evaluator has: inputs are
// constants, results are compared with the outputs that ONNX ships.
//
//===----------------------------------------------------------------------===//

#include "Evaluate/Evaluator.h"
#include "Model.h"
#include "Operators.h"
#include "TensorData.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>

using namespace dtc::frontend;
namespace fs = std::filesystem;

namespace {

/// A tensor file of the data, or nothing for types that dtc does not have.
std::optional<HostTensor> readTensor(const fs::path &path) {
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

bool isClose(const HostTensor &a, const HostTensor &b, int64_t i) {
  if (!a.isFloat())
    return a.getInt(i) == b.getInt(i);
  double x = a.getFloat(i), y = b.getFloat(i);
  return x == y || (std::isnan(x) && std::isnan(y)) ||
         std::fabs(x - y) <= 1e-6 + 1e-5 * std::fabs(y);
}

/// Runs one test. False when it is not one for the evaluator.
bool runCase(const fs::path &folder, const OperatorTable &operators,
             const Evaluator &evaluator) {
  onnx::ModelProto model;
  std::ifstream stream(folder / "model.onnx", std::ios::binary);
  if (!model.ParseFromIstream(&stream) || model.graph().node_size() != 1 ||
      model.opset_import_size() != 1)
    return false;
  const onnx::NodeProto &node = model.graph().node(0);
  int64_t opset = model.opset_import(0).version();
  if (!evaluator.supports(node.op_type()) || opset < 11)
    return false;

  llvm::StringMap<HostTensor> inputs;
  fs::path data = folder / "test_data_set_0";
  for (int i = 0; i < model.graph().input_size(); ++i) {
    auto tensor = readTensor(data / ("input_" + std::to_string(i) + ".pb"));
    if (!tensor)
      return false;
    inputs.try_emplace(model.graph().input(i).name(), *tensor);
  }
  std::vector<HostTensor> expected;
  for (int i = 0; i < model.graph().output_size(); ++i) {
    auto tensor = readTensor(data / ("output_" + std::to_string(i) + ".pb"));
    if (!tensor)
      return false;
    expected.push_back(*tensor);
  }

  llvm::Error wellFormed = operators.check(node, opset);
  EXPECT_FALSE(bool(wellFormed)) << llvm::toString(std::move(wellFormed));
  Call call(node, opset, DType::F32);
  for (const std::string &name : node.input()) {
    Operand operand;
    if (!name.empty()) {
      const HostTensor &tensor = inputs.find(name)->second;
      operand = {true, tensor.dtype(), Shape(tensor.shape()), &tensor};
    }
    call.operands.push_back(operand);
  }
  llvm::Expected<Values> results = evaluator.evaluate(call);
  if (!results) {
    ADD_FAILURE() << llvm::toString(results.takeError());
    return true;
  }
  EXPECT_EQ(results->size(), expected.size());
  for (size_t k = 0; k < expected.size() && k < results->size(); ++k) {
    const HostTensor &result = (*results)[k];
    EXPECT_EQ(result.dtype(), expected[k].dtype());
    EXPECT_EQ(toString(result.shape()), toString(expected[k].shape()));
    if (result.shape() != expected[k].shape())
      continue;
    int64_t wrong = 0;
    for (int64_t i = 0; i < result.size(); ++i)
      wrong += !isClose(result, expected[k], i);
    EXPECT_EQ(wrong, 0) << "elements of output " << k;
  }
  return true;
}

TEST(Conformance, Evaluator) {
  if (!fs::is_directory(ONNX_TESTDATA))
    GTEST_SKIP() << "no folder " ONNX_TESTDATA
                    ": install libonnx-testdata or set DTC_ONNX_TESTDATA";
  OperatorTable operators;
  Evaluator evaluator;
  int count = 0;
  for (const auto &entry : fs::directory_iterator(ONNX_TESTDATA)) {
    SCOPED_TRACE(entry.path().filename().string());
    count += runCase(entry.path(), operators, evaluator);
  }
  std::printf("%d cases\n", count);
  // ONNX 1.12 has this many; fewer means that cases are passed over.
  EXPECT_GE(count, 260);
}

} // namespace
