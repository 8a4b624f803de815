//===- ImportConformanceTest.cpp - imported ops against ONNX's own data ---===//
//
// Runs ONNX's node tests of windows over images and of batch norm: the node is
// imported as a model, what it becomes is interpreted, and results are compared
// with the outputs that ONNX ships.
//
//===----------------------------------------------------------------------===//

#include "NodeCase.h"

#include "../Training/Interpreter.h"
#include "dtc/Dialect/Dialect.h"
#include "dtc/Frontend/Import.h"
#include "dtc/Training/FindFunction.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstdio>
#include <filesystem>

namespace fs = std::filesystem;
using dtc::test::NodeCase;

namespace {

const char *const operators[] = {"Conv", "ConvTranspose", "MaxPool",
                                 "AveragePool", "BatchNormalization"};

/// What dtc refuses are images of three dimensions, and outputs that are
/// indices or statistics.
bool isSupported(const NodeCase &test) {
  return test.inputs[0].rank() <= 4 && test.outputs.size() == 1;
}

dtc::HostTensor toReference(const dtc::frontend::HostTensor &tensor) {
  dtc::HostTensor result(tensor.shape());
  for (int64_t i = 0; i < tensor.size(); ++i)
    result.data[i] = tensor.getFloat(i);
  return result;
}

void runCase(const NodeCase &test, mlir::MLIRContext &context) {
  dtc::ImportOptions options;
  options.path = test.modelPath;
  // Running statistics must be parameters; in the tests all are inputs.
  if (test.node().op_type() == "BatchNormalization")
    options.parameterInputs = {test.node().input(3), test.node().input(4)};
  dtc::ImportReport report;
  auto module = dtc::importOnnx(context, options, report);
  std::string issues;
  llvm::raw_string_ostream stream(issues);
  report.printIssues(stream);
  ASSERT_EQ(bool(module), isSupported(test)) << issues;
  if (!module)
    return;

  auto function = module->lookupSymbol<mlir::func::FuncOp>(dtc::forwardName);
  std::vector<dtc::HostTensor> arguments;
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    auto name =
        function.getArgAttrOfType<mlir::StringAttr>(i, dtc::attr::input);
    if (!name)
      name =
          function.getArgAttrOfType<mlir::StringAttr>(i, dtc::attr::parameter);
    arguments.push_back(toReference(test.input(name.getValue())));
  }
  dtc::HostTensor found = dtc::interpret(function, arguments)[0];
  dtc::HostTensor expected = toReference(test.outputs[0]);
  ASSERT_EQ(found.shape, expected.shape);
  int64_t wrong = 0;
  for (int64_t i = 0; i < found.size(); ++i)
    wrong += !(std::fabs(found.data[i] - expected.data[i]) <=
               1e-6 + 1e-5 * std::fabs(expected.data[i]));
  EXPECT_EQ(wrong, 0) << "elements";
}

TEST(Conformance, Import) {
  if (!fs::is_directory(ONNX_TESTDATA))
    GTEST_SKIP() << "no folder " ONNX_TESTDATA
                    ": install libonnx-testdata or set DTC_ONNX_TESTDATA";
  mlir::MLIRContext context;
  context.loadDialect<dtc::DTCDialect, mlir::func::FuncDialect>();
  int imported = 0, refused = 0;
  for (const auto &entry : fs::directory_iterator(ONNX_TESTDATA)) {
    SCOPED_TRACE(entry.path().filename().string());
    auto test = NodeCase::read(entry.path());
    if (!test || !llvm::is_contained(operators, test->node().op_type()))
      continue;
    runCase(*test, context);
    (isSupported(*test) ? imported : refused) += 1;
  }
  std::printf("%d imported, %d refused\n", imported, refused);
  // ONNX 1.12 has this many; fewer means that cases are passed over.
  EXPECT_GE(imported, 39);
}

} // namespace
