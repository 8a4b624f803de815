//===- ConformanceTest.cpp - the evaluator against ONNX's own data --------===//
//
// Runs each node test of ONNX whose operator the evaluator has. The inputs are
// constants. The test compares results with ONNX's outputs.
//
//===----------------------------------------------------------------------===//

#include "Evaluate/Evaluator.h"
#include "NodeCase.h"
#include "Ops/Operators.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstdio>
#include <filesystem>

using namespace dtc::frontend;
using dtc::test::NodeCase;
namespace fs = std::filesystem;

namespace {

bool isClose(const HostTensor &a, const HostTensor &b, int64_t i) {
  if (!a.isFloat())
    return a.getInt(i) == b.getInt(i);
  double x = a.getFloat(i), y = b.getFloat(i);
  return x == y || (std::isnan(x) && std::isnan(y)) ||
         std::fabs(x - y) <= 1e-6 + 1e-5 * std::fabs(y);
}

/// Runs one test. Returns false if the evaluator does not support it.
bool runCase(const NodeCase &test, const OperatorTable &operators,
             const Evaluator &evaluator) {
  const onnx::NodeProto &node = test.node();
  int64_t opset = test.opset();
  if (!evaluator.supports(node.op_type()))
    return false;
  const std::vector<HostTensor> &expected = test.outputs;

  llvm::Error wellFormed = operators.check(node, opset);
  EXPECT_FALSE(bool(wellFormed)) << llvm::toString(std::move(wellFormed));
  Call call(node, opset, DType::F32);
  for (const std::string &name : node.input()) {
    Operand operand;
    if (!name.empty()) {
      const HostTensor &tensor = test.input(name);
      operand.present = true;
      operand.dtype = tensor.dtype();
      operand.shape = Shape(tensor.shape());
      operand.constant = &tensor;
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
    if (auto test = NodeCase::read(entry.path()))
      count += runCase(*test, operators, evaluator);
  }
  std::printf("%d cases\n", count);
  // The number of cases of ONNX 1.12. A smaller number means skipped cases.
  EXPECT_GE(count, 280);
}

} // namespace
