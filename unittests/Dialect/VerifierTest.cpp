//===- VerifierTest.cpp - a pass that builds a bad layout is stopped ------===//
//
// The verifier checks the layouts of every op after every pass. The parser does
// not take part.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/Dialect.h"
#include "dtc/Dialect/ShardingRule.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace dtc;

namespace {

/// Gives the result of every relu another layout, valid or invalid.
struct ChangeLayouts
    : public PassWrapper<ChangeLayouts, OperationPass<ModuleOp>> {
  explicit ChangeLayouts(int64_t dim) : dim(dim) {}
  ChangeLayouts(const ChangeLayouts &other) = default;

  StringRef getArgument() const override { return "change-layouts"; }
  void runOnOperation() override {
    getOperation().walk([&](ReluOp op) {
      LayoutAttr layout = getLayout(op.getX().getType());
      auto axis = StringAttr::get(&getContext(), "dp");
      op.getY().setType(
          withLayout(op.getY().getType(),
                     LayoutAttr::getCanonical(layout.getMesh(),
                                              {AxisLayout::split(axis, dim)})));
    });
  }

  int64_t dim;
};

/// The verifier's error after the pass; empty if there is none.
std::string runPass(StringRef columns, int64_t dim) {
  MLIRContext context;
  context.loadDialect<DTCDialect, func::FuncDialect>();
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    message = diagnostic.str();
    return success();
  });
  std::string type = ("tensor<8x" + columns + "xf32, #d>").str();
  std::string text = "#mesh = #dtc.mesh<dp=4>\n"
                     "#d = #dtc.layout<#mesh, dp: split(0)>\n"
                     "func.func @f(%x: " +
                     type +
                     ") {\n"
                     "  %0 = dtc.relu %x : (" +
                     type + ") -> " + type +
                     "\n"
                     "  return\n}\n";
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  EXPECT_TRUE(module);
  PassManager manager(&context);
  manager.addPass(std::make_unique<ChangeLayouts>(dim));
  bool passed = succeeded(manager.run(*module));
  EXPECT_EQ(passed, message.empty());
  return message;
}

TEST(Verifier, AcceptsTheLayoutOfTheRule) { EXPECT_EQ(runPass("4", 0), ""); }

TEST(Verifier, StopsALayoutThatTheRuleDoesNotGive) {
  EXPECT_NE(runPass("4", 1).find("expected #dtc.layout<#dtc.mesh<dp=4>, dp: "
                                 "split(0)> from its operands"),
            std::string::npos);
}

TEST(Verifier, StopsALayoutThatDoesNotDivide) {
  EXPECT_NE(runPass("3", 1).find("dimension 1 of size 3 does not divide into 4 "
                                 "parts"),
            std::string::npos);
}

} // namespace

// No real op has such a rule: an op that sums has the factor in all linear
// operands.
TEST(ShardingRule, NothingIsPartialTwice) {
  MLIRContext context;
  context.loadDialect<DTCDialect>();
  auto axis = StringAttr::get(&context, "dp");
  auto mesh = MeshAttr::get(&context, {MeshAxis{axis, 2}});
  ShardingRule rule;
  unsigned rows = rule.addFactor(8),
           summed = rule.addFactor(4, FactorKind::Sum);
  rule.operands = {{{rows}}, {{summed}}};
  rule.results = {{{rows}}};
  rule.setLinear(Linearity::First);
  std::string error;
  EXPECT_TRUE(failed(inferExactly(
      rule, mesh,
      {LayoutAttr::getCanonical(mesh,
                                {AxisLayout::partial(axis, Reduction::sum)}),
       LayoutAttr::getCanonical(mesh, {AxisLayout::split(axis, 0)})},
      error)));
  EXPECT_EQ(error, "results would be partial on dp twice");
}
