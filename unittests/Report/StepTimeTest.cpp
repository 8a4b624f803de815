//===- StepTimeTest.cpp - expected time of a step -------------------------===//
//
// Plans of a few ops, with times calculated by hand as sums and maxima.
//
//===----------------------------------------------------------------------===//

#include "Costs/OpCost.h"
#include "ReportParts.h"
#include "dtc/Report/Devices.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace dtc;

namespace {

// A product of 100 x 100 x 100 is 2e6 FLOPs: 1 s at 3/4 of this speed. Memory
// takes no time, and 40 kB between ranks 2 s, or an all_reduce of two 2 x (20
// kB / 20 kB/s).
constexpr double flops = 2e6 / 0.75;
const Topology machines{
    1,         2,         flops,
    {20e3, 0}, {20e3, 0}, DeviceSpeed{flops, flops, 4 * flops, flops, 1e30}};
constexpr double product = 1, message = 2, reduction = 2;

class StepTimeTest : public testing::Test {
protected:
  StepTimeTest() { context.loadDialect<DTCDialect, func::FuncDialect>(); }

  /// The report of stages, each the body of a module. Types are !t, a whole
  /// matrix, and !p, a partial one.
  Report estimate(int64_t dp, ArrayRef<std::string> stages) {
    std::string mesh = "#dtc.mesh<pp=" + std::to_string(stages.size()) +
                       ", dp=" + std::to_string(dp) + ", mb=1>";
    std::string text = "#t = #dtc.layout<" + mesh + ">\n#p = #dtc.layout<" +
                       mesh +
                       ", dp: partial(sum)>\n!t = tensor<100x100xf32, #t>\n"
                       "!p = tensor<100x100xf32, #p>\nmodule {\n";
    for (auto [number, body] : llvm::enumerate(stages))
      text += "module @stage" + std::to_string(number) +
              " attributes {dtc.stage = " + std::to_string(number) +
              " : i64} {\n" + body + "}\n";
    module = parseSourceString<ModuleOp>(text + "}\n", &context);
    EXPECT_TRUE(module) << text;
    Report report;
    report.ranksPerStage = dp;
    report.stages.resize(stages.size());
    for (size_t stage = 0; stage < stages.size(); ++stage) {
      RankTime &time = report.times.emplace_back();
      time.rank = int64_t(stage) * dp;
      time.stage = int64_t(stage);
    }
    SmallVector<ModuleOp> modules(module->getOps<ModuleOp>());
    isGood = succeeded(addExpectedTimes(modules, machines, report));
    return report;
  }
  double getSeconds(int64_t dp, ArrayRef<std::string> stages) {
    Report report = estimate(dp, stages);
    return report.expected.empty() ? -1 : report.expected.front().seconds;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  bool isGood = false;
};

const std::string productOf = "dtc.matmul %a, %b : (!t, !t) -> !t\n";

} // namespace

TEST_F(StepTimeTest, ReductionsTakeTheirTimeUnlessTheyStartEarly) {
  std::string begin = "func.func @plan(%a: !t, %b: !t, %p: !p) {\n"
                      "%g = dtc.all_reduce sum %p over [\"dp\"] ";
  std::string rest = ": (!p) -> !t\n%c = " + productOf;
  EXPECT_DOUBLE_EQ(getSeconds(2, {begin + rest + "return\n}\n"}),
                   reduction + product);
  EXPECT_DOUBLE_EQ(getSeconds(2, {begin + "{dtc.async} " + rest +
                                  "dtc.wait %g : !t\nreturn\n}\n"}),
                   std::max(reduction, product));
  // Transfers without a wait delay only the end.
  EXPECT_DOUBLE_EQ(
      getSeconds(2, {begin + "{dtc.async} " + rest + "%d = " + productOf +
                     "%e = " + productOf + "return\n}\n"}),
      3 * product);
}

TEST_F(StepTimeTest, WaitsForWhatAnotherFunctionStarted) {
  std::string functions =
      "func.func private @start(%p: !p {dtc.update = 0 : i64}) -> !t {\n"
      "%g = dtc.all_reduce sum %p over [\"dp\"] {dtc.async} : (!p) -> !t\n"
      "return %g : !t\n}\n"
      "func.func private @use(%g: !t, %a: !t, %b: !t) -> !t {\n"
      "dtc.wait %g : !t\n%c = " +
      productOf + "return %c : !t\n}\n";
  std::string plan = "func.func @plan(%a: !t, %b: !t, %p: !p) {\n"
                     "%g = dtc.run @start(%p) : (!p) -> !t\n%c = " +
                     productOf +
                     "%d = dtc.run @use(%g, %a, %b) : (!t, !t, !t) -> !t\n"
                     "return\n}\n";
  EXPECT_DOUBLE_EQ(getSeconds(2, {functions + plan}), reduction + product);
}

static std::string getPipelineStage(bool isFirst, const std::string &last) {
  std::string body = "func.func @plan(%a: !t, %b: !t) {\n";
  if (isFirst)
    return body + "%c = " + productOf +
           "%s = dtc.send %c to 1 tag 0 : !t\ndtc.wait %s : !t\n" + last +
           "return\n}\n";
  return body + "%r = dtc.recv from 0 tag 0 : !t\ndtc.wait %r : !t\n%c = " +
         productOf + last + "return\n}\n";
}

TEST_F(StepTimeTest, StagesWaitForMessages) {
  EXPECT_DOUBLE_EQ(
      getSeconds(1, {getPipelineStage(true, ""), getPipelineStage(false, "")}),
      product + message + product);
  // Back again, while the first stage computes.
  std::string back = "%s = dtc.send %c to 0 tag 1 : !t\ndtc.wait %s : !t\n";
  std::string got = "%r = dtc.recv from 1 tag 1 : !t\n%d = " + productOf +
                    "dtc.wait %r : !t\n%e = " + productOf;
  EXPECT_DOUBLE_EQ(getSeconds(1, {getPipelineStage(true, got),
                                  getPipelineStage(false, back)}),
                   3 * product + 2 * message);
}

TEST_F(StepTimeTest, StagesThatWaitForEachOtherAreAnError) {
  context.getDiagEngine().registerHandler(
      [](Diagnostic &) { return success(); });
  std::string lost = "%s = dtc.send %c to 0 tag 7 : !t\ndtc.wait %s : !t\n";
  estimate(1, {getPipelineStage(true, ""), getPipelineStage(false, lost)});
  EXPECT_FALSE(isGood);
}

TEST_F(StepTimeTest, ProductsInTf32AreAnEstimateOfTheirOwn) {
  Report report =
      estimate(1, {"func.func @plan(%a: !t, %b: !t) {\n%c = " + productOf +
                   "return\n}\n"});
  ASSERT_EQ(report.expected.size(), 2u);
  EXPECT_EQ(report.expected[0].numbers, "f32");
  EXPECT_EQ(report.expected[1].numbers, "tf32");
  EXPECT_DOUBLE_EQ(report.expected[1].seconds, product / 4);
  EXPECT_DOUBLE_EQ(report.expected[1].peak, 4 * flops);
}

TEST(OpCosts, MemoryBoundsWhatComputesLittle) {
  OpCost cost{OpCost::Kernel, 1000, 9000, {}};
  DeviceSpeed speed{1e9, 1e9, 1e9, 1e9, 1e6};
  EXPECT_DOUBLE_EQ(cost.getSeconds(speed, /*usesTf32=*/false), 0.01);
  cost.flops = 100000000;
  EXPECT_DOUBLE_EQ(cost.getSeconds(speed, /*usesTf32=*/false), 0.1);
}

TEST(Devices, Topology) {
  const Device *device = Device::find("h100");
  ASSERT_TRUE(device);
  EXPECT_FALSE(Device::find("H100"));
  EXPECT_EQ(Device::listNames(), "a100, h100, h200");
  Topology few = device->getTopology(4, "f32");
  EXPECT_EQ(few.nodes, 1);
  EXPECT_EQ(few.devicesPerNode, 4);
  EXPECT_EQ(few.flops, device->speed.f32);
  Topology many = device->getTopology(12, "bf16");
  EXPECT_EQ(many.nodes, 2);
  EXPECT_EQ(many.getNode(7), 0);
  EXPECT_EQ(many.getNode(8), 1);
  EXPECT_EQ(many.flops, device->speed.half);
  EXPECT_EQ(many.getSlowestLink({0, 1}).bandwidth, device->nvlink.bandwidth);
  EXPECT_EQ(many.getSlowestLink({7, 8}).bandwidth, device->network.bandwidth);
}
