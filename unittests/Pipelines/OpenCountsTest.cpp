//===- OpenCountsTest.cpp - counts of a batch of any size -----------------===//

#include "dtc/Pipelines/Pipelines.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace dtc;

namespace {

/// The replacement of a constant of a model for 2, 3 and 5 replicas: the ops of
/// the first, each as "name" or, for constants, the number; "" if it stays.
std::string open(ArrayRef<double> values, StringRef type = "f64",
                 StringRef shape = "") {
  DialectRegistry registry;
  registerDialects(registry);
  MLIRContext context(registry);
  std::string tensor = ("tensor<" + shape + type + ">").str();
  std::vector<OwningOpRef<ModuleOp>> owned;
  std::vector<ModuleOp> models;
  for (double value : values) {
    std::string text;
    llvm::raw_string_ostream(text)
        << "func.func @forward(%x: tensor<2x" << type
        << "> {dtc.input = \"x\"}) -> " << tensor
        << " {\n%c = dtc.constant dense<" << llvm::format("%.17e", value)
        << "> : " << tensor << " to " << tensor << "\nreturn %c : " << tensor
        << "\n}";
    owned.push_back(parseSourceString<ModuleOp>(text, &context));
    if (!owned.back())
      return "does not parse: " + text;
    models.push_back(*owned.back());
  }
  if (failed(openCounts(models, {2, 3, 5})))
    return "fails";
  std::vector<std::string> first;
  for (ModuleOp model : models) {
    EXPECT_TRUE(succeeded(verify(model)));
    std::vector<std::string> found;
    auto forward = model.lookupSymbol<func::FuncOp>("forward");
    for (Operation &op : forward.front().without_terminator()) {
      found.push_back(op.getName().stripDialect().str());
      if (auto constant = dyn_cast<ConstantOp>(op)) {
        auto elements = cast<DenseElementsAttr>(constant.getValue());
        llvm::raw_string_ostream(found.back() = "") << llvm::format(
            "%g", elements.getSplatValue<APFloat>().convertToDouble());
      }
    }
    if (forward.getNumArguments() == 1)
      found = {};
    // All get the same replacement, whatever their number was.
    if (first.empty())
      first = found;
    EXPECT_EQ(first, found);
  }
  return llvm::join(first, " ");
}

TEST(OpenCounts, FindsWhatGrowsWithReplicas) {
  EXPECT_EQ(open({16, 24, 40}), "8 mul");
  EXPECT_EQ(open({1. / 16, 1. / 24, 1. / 40}), "8 mul 1 div");
}

// The divisor of a variance.
TEST(OpenCounts, FindsALine) {
  EXPECT_EQ(open({15, 23, 39}), "8 mul -1 add");
  EXPECT_EQ(open({1. / 15, 1. / 23, 1. / 39}), "8 mul -1 add 1 div");
}

// A function of N - 1 for one sample, and its inverse.
TEST(OpenCounts, MeetsZero) {
  EXPECT_EQ(open({0, 1, 3}), "1 mul -2 add");
  EXPECT_EQ(open({1, 1. / 2, 1. / 4}), "1 mul -1 add 1 div");
}

TEST(OpenCounts, AllowsForRounding) {
  EXPECT_EQ(open({1. / 34, 1. / 51, 1. / 85}, "f32"), "17 mul 1 div cast");
  EXPECT_EQ(open({1. / 34, 1. / 51, 1. / 85}, "f32", "1x1x"),
            "17 mul 1 div cast broadcast");
}

TEST(OpenCounts, LeavesWhatIsTheSame) { EXPECT_EQ(open({8, 8, 8}), ""); }

TEST(OpenCounts, RefusesOtherOps) {
  DialectRegistry registry;
  registerDialects(registry);
  MLIRContext context(registry);
  std::string error;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    error = diagnostic.str();
    return success();
  });
  auto parse = [&](StringRef op) {
    std::string text = ("func.func @forward(%x: tensor<2xf64> {dtc.input = "
                        "\"x\"}) -> tensor<2xf64> {\n" +
                        op + "\nreturn %x : tensor<2xf64>\n}")
                           .str();
    return parseSourceString<ModuleOp>(text, &context);
  };
  OwningOpRef<ModuleOp> one = parse(""), two = parse(""),
                        three = parse("%c = dtc.constant dense<1.0> : "
                                      "tensor<f64> to tensor<f64>");
  EXPECT_TRUE(failed(openCounts({*two, *three, *one}, {2, 3, 1})));
  EXPECT_EQ(error, "--dp auto: the batch of 3 replicas gives other ops than "
                   "that of 2; use a larger --batch, or --dp with a number");
}

TEST(OpenCounts, RefusesTheRest) {
  EXPECT_EQ(open({4, 9, 25}), "fails");        // another law
  EXPECT_EQ(open({8, 8, 9}), "fails");         // the same for a few
  EXPECT_EQ(open({0, 3, 8}), "fails");         // no inverse
  EXPECT_EQ(open({16, 24, 41}), "fails");      // off the line
  EXPECT_EQ(open({16, 24, 40.0001}), "fails"); // by more than rounding
}

} // namespace
