//===- ImportConformanceTest.cpp - import rules against ONNX's own data ---===//
//
// Runs each node test of ONNX that dtc imports. It imports the node as a model,
// interprets the ops, and compares results with ONNX's outputs.
//
//===----------------------------------------------------------------------===//

#include "NodeCase.h"
#include "Ops/Operators.h"

#include "Interpreter.h"
#include "dtc/Dialect/FindFunction.h"
#include "dtc/Frontend/Import.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>

namespace fs = std::filesystem;
using dtc::test::NodeCase;

namespace {

dtc::HostTensor toReference(const dtc::frontend::HostTensor &tensor) {
  dtc::HostTensor result(tensor.shape());
  for (int64_t i = 0; i < tensor.size(); ++i)
    result.data[i] = tensor.getFloat(i);
  return result;
}

bool isNegative(int64_t value) { return value < 0; }

/// Makes inputs after the first one constants of the model if `isConstant` is
/// true.
void makeConstant(
    NodeCase &test,
    llvm::function_ref<bool(const dtc::frontend::HostTensor &)> isConstant) {
  for (const std::string &name : llvm::drop_begin(test.node().input()))
    if (!name.empty() && isConstant(test.input(name)))
      test.makeConstant(name);
}

class ImportConformance : public testing::Test {
protected:
  /// Returns null and sets `reasons` if dtc refuses the model.
  mlir::OwningOpRef<mlir::ModuleOp> import(const NodeCase &test) {
    dtc::ImportOptions options;
    options.path = path;
    std::ofstream stream(path, std::ios::binary);
    test.model.SerializeToOstream(&stream);
    stream.close();
    // Running statistics must be parameters; ONNX's tests have them as inputs.
    if (test.node().op_type() == "BatchNormalization")
      options.parameters = {test.node().input(3), test.node().input(4)};
    dtc::ImportReport report;
    auto module = dtc::importOnnx(context, options, report);
    reasons.clear();
    llvm::raw_string_ostream reasonStream(reasons);
    report.printIssues(reasonStream);
    return module;
  }

  /// Returns false if dtc refuses the test, or if the result is random.
  bool run(NodeCase test) {
    // Data must not have indices that count from the end.
    makeConstant(test, [](const dtc::frontend::HostTensor &tensor) {
      return !tensor.isFloat() && llvm::any_of(tensor.toInts(), isNegative);
    });
    auto module = import(test);
    if (!module) {
      // Operands that are settings, such as axes, must be known.
      makeConstant(test, [](const auto &) { return true; });
      module = import(test);
    }
    if (!module)
      return false;

    auto function = module->lookupSymbol<mlir::func::FuncOp>(dtc::forwardName);
    std::vector<dtc::HostTensor> arguments;
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      using Name = mlir::StringAttr;
      auto name = function.getArgAttrOfType<Name>(i, dtc::attr::input);
      if (!name)
        name = function.getArgAttrOfType<Name>(i, dtc::attr::parameter);
      if (name == "seed") {
        reasons = "draws random numbers, the reference others\n";
        return false;
      }
      arguments.push_back(toReference(test.input(name.getValue())));
    }
    std::vector<dtc::HostTensor> found = dtc::interpret(function, arguments);
    EXPECT_EQ(found.size(), test.outputs.size());
    // ONNX writes some outputs with four decimals.
    double bound = test.node().op_type() == "GridSample" ? 5e-5 : 1e-6;
    for (auto [result, output] : llvm::zip(found, test.outputs))
      expectClose(result, toReference(output), bound);
    return true;
  }

  static void expectClose(const dtc::HostTensor &found,
                          const dtc::HostTensor &expected, double bound) {
    ASSERT_EQ(found.shape, expected.shape);
    int64_t wrong = 0;
    for (int64_t i = 0; i < found.size(); ++i)
      wrong += !(std::fabs(found.data[i] - expected.data[i]) <=
                 bound + 1e-5 * std::fabs(expected.data[i]));
    EXPECT_EQ(wrong, 0) << "elements";
  }

  mlir::MLIRContext context;
  std::string path = (fs::path(testing::TempDir()) / "dtc-node.onnx").string();
  std::string reasons;
};

TEST_F(ImportConformance, NodeTests) {
  if (!fs::is_directory(ONNX_TESTDATA))
    GTEST_SKIP() << "no folder " ONNX_TESTDATA
                    ": install libonnx-testdata or set DTC_ONNX_TESTDATA";
  dtc::frontend::OperatorTable operators;
  int count = 0;
  for (const auto &entry : fs::directory_iterator(ONNX_TESTDATA)) {
    SCOPED_TRACE(entry.path().filename().string());
    auto test = NodeCase::read(entry.path());
    if (!test)
      continue;
    const auto *op = operators.find(test->node().op_type());
    if (!op || !op->rule)
      continue;
    if (run(*test))
      ++count;
    else
      std::printf("%s: %s", entry.path().filename().c_str(), reasons.c_str());
  }
  std::remove(path.c_str());
  std::printf("%d cases\n", count);
  // dtc imports this many tests of ONNX 1.12. A smaller number means that dtc
  // refuses some.
  EXPECT_GE(count, 557);
}

} // namespace
