//===- OperatorGradientTest.cpp - operators against PyTorch ---------------===//
//
// Imports models of single operators, differentiates and interprets them, and
// compares losses and gradients with PyTorch's in f64, also at kinks, ties and
// with broadcasts. test/Inputs/make_operator_gradients.py writes the
// references.
//
//===----------------------------------------------------------------------===//

#include "Interpreter.h"
#include "dtc/Dialect/Dialect.h"
#include "dtc/Frontend/Import.h"
#include "dtc/Strategy/Passes.h"
#include "dtc/Training/DifferentiableInterface.h"
#include "dtc/Training/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/Support/Base64.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>

using namespace mlir;
namespace json = llvm::json;
namespace fs = std::filesystem;

namespace {

std::vector<double> toNumbers(const json::Array &array) {
  std::vector<double> numbers;
  for (const json::Value &value : array)
    numbers.push_back(*value.getAsNumber());
  return numbers;
}

dtc::HostTensor toTensor(const json::Object &object) {
  llvm::SmallVector<int64_t> shape;
  for (const json::Value &size : *object.getArray("shape"))
    shape.push_back(*size.getAsInteger());
  dtc::HostTensor tensor(shape);
  tensor.data = toNumbers(*object.getArray("data"));
  return tensor;
}

class OperatorGradients : public testing::Test {
protected:
  OperatorGradients() {
    DialectRegistry registry;
    registry.insert<dtc::DTCDialect, func::FuncDialect>();
    dtc::registerGradients(registry);
    context.appendDialectRegistry(registry);
  }

  /// Returns the differentiated step; null if dtc refuses the model.
  OwningOpRef<ModuleOp> build(const json::Object &test) {
    std::vector<char> bytes;
    llvm::cantFail(llvm::decodeBase64(*test.getString("model"), bytes));
    std::ofstream(path, std::ios::binary).write(bytes.data(), bytes.size());
    dtc::ImportOptions options;
    options.path = path;
    for (const auto &[name, gradient] : *test.getObject("gradients"))
      options.parameters.push_back(name.str());
    dtc::ImportReport report;
    auto module = dtc::importOnnx(context, options, report);
    report.printIssues(llvm::errs());
    if (!module)
      return nullptr;
    PassManager passes(&context);
    dtc::AddLossOptions loss;
    loss.loss = "output";
    passes.addPass(dtc::createAddLoss(loss));
    passes.addPass(dtc::createDifferentiate());
    if (failed(passes.run(*module)))
      return nullptr;
    return module;
  }

  void check(const json::Object &test) {
    auto module = build(test);
    ASSERT_TRUE(module) << "refused";
    auto step = module->lookupSymbol<func::FuncOp>("step");
    const json::Object &inputs = *test.getObject("inputs");
    std::vector<dtc::HostTensor> arguments;
    for (unsigned i = 0; i < step.getNumArguments(); ++i) {
      auto name = step.getArgAttrOfType<StringAttr>(i, dtc::attr::input);
      if (!name)
        name = step.getArgAttrOfType<StringAttr>(i, dtc::attr::parameter);
      arguments.push_back(toTensor(*inputs.getObject(name.getValue())));
    }
    std::vector<dtc::HostTensor> results = dtc::interpret(step, arguments);
    std::set<std::string> found;
    for (unsigned i = 0; i < step.getNumResults(); ++i) {
      auto output = step.getResultAttrOfType<StringAttr>(i, dtc::attr::output);
      if (output && output.getValue() == "loss")
        expectClose(results[i].data, {*test.getNumber("loss")}, "loss");
      auto name = step.getResultAttrOfType<StringAttr>(i, dtc::attr::gradient);
      if (!name)
        continue;
      found.insert(name.str());
      expectClose(results[i].data, expectedGradient(test, name.getValue()),
                  name.getValue());
    }
    // A missing gradient means zero.
    for (const auto &[name, gradient] : *test.getObject("gradients"))
      if (!found.count(name.str()))
        for (double x : expectedGradient(test, name))
          EXPECT_EQ(x, 0) << "gradient of " << name.str() << " is missing";
  }

  static std::vector<double> expectedGradient(const json::Object &test,
                                              StringRef name) {
    return toNumbers(*test.getObject("gradients")->getArray(name));
  }

  static void expectClose(const std::vector<double> &found,
                          const std::vector<double> &expected, StringRef what) {
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); ++i)
      EXPECT_NEAR(found[i], expected[i], 1e-10 * (1 + std::fabs(expected[i])))
          << what.str() << ", element " << i;
  }

  MLIRContext context;
  std::string path =
      (fs::path(testing::TempDir()) / "dtc-operator.onnx").string();
};

TEST_F(OperatorGradients, PyTorch) {
  auto buffer = llvm::MemoryBuffer::getFile(OPERATOR_GRADIENTS);
  ASSERT_TRUE(bool(buffer)) << "cannot read " OPERATOR_GRADIENTS;
  llvm::Expected<json::Value> tests = json::parse((*buffer)->getBuffer());
  ASSERT_TRUE(bool(tests)) << llvm::toString(tests.takeError());
  for (const json::Value &test : *tests->getAsArray()) {
    SCOPED_TRACE(test.getAsObject()->getString("name")->str());
    check(*test.getAsObject());
  }
  std::remove(path.c_str());
}

} // namespace
