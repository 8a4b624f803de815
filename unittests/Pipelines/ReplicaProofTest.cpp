//===- ReplicaProofTest.cpp - code for any number of replicas -------------===//

#include "dtc/Pipelines/Pipelines.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace dtc;

namespace {

constexpr const char *model = R"(
  func.func @forward(%x: tensor<4x3xf32> {dtc.input = "x"},
                     %w: tensor<3x2xf32> {dtc.parameter = "w"})
      -> (tensor<4x2xf32> {dtc.output = "y"}) {
    %y = dtc.matmul %x, %w : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
    return %y : tensor<4x2xf32>
  })";

/// Compiles the model for two replicas with a loss, and proves that it is valid
/// for any number. Returns the error, or "".
std::string prove(StringRef loss, bool replicasAtLaunch) {
  DialectRegistry registry;
  registerDialects(registry);
  MLIRContext context(registry);
  std::string error;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    error = diagnostic.str();
    return success();
  });
  OwningOpRef<ModuleOp> imported = parseSourceString<ModuleOp>(model, &context);
  if (!imported)
    return error;
  Strategy strategy;
  strategy.training.loss = loss.str();
  strategy.training.batch = 4;
  strategy.parallel.dp = 2;
  strategy.parallel.replicasAtLaunch = replicasAtLaunch;
  OwningOpRef<ModuleOp> lowered = imported->clone();
  strategy.set(*lowered);
  for (CompilePhase phase : loweringPhases)
    if (failed(runPhase(phase, *lowered)))
      return "does not compile: " + error;
  strategy.training.batch = 6;
  strategy.parallel.dp = 3;
  strategy.set(*imported);
  if (succeeded(proveReplicas(*lowered, *imported)))
    return "";
  return error;
}

TEST(ReplicaProof, HoldsWhereCountsAreInputs) {
  for (StringRef loss : {"mse", "cross-entropy", "bce"})
    EXPECT_EQ(prove(loss, /*replicasAtLaunch=*/true), "") << loss.str();
}

// The mean is over 8 elements of two replicas, or over 12 of three.
TEST(ReplicaProof, FindsACountInTheCode) {
  for (StringRef loss : {"mse", "cross-entropy", "bce"})
    EXPECT_EQ(
        prove(loss, /*replicasAtLaunch=*/false),
        "--dp auto: what a rank computes depends on how many replicas "
        "there are, as it may where the model mixes samples or its loss is "
        "linear in the last layer; use --dp with a number")
        << loss.str();
}

} // namespace
