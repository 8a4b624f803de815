//===- dtc-plant-bug.cpp - dtc, with a bug put into its IR ----------------===//
//
// dtc-plant-bug BUG ARGUMENTS... compiles as `dtc ARGUMENTS...` does, but
// changes the IR between phases. The tests that compare gradients must notice.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/Dialect.h"
#include "dtc/Driver/Driver.h"
#include "dtc/Schedule/Phase.h"
#include "dtc/Training/FindFunction.h"
#include "llvm/Support/InitLLVM.h"

using namespace mlir;
using namespace dtc;

/// Multiplies the gradient of the first parameter whose name ends so.
static LogicalResult scaleGradient(ModuleOp module, StringRef suffix,
                                   double factor) {
  auto step = module.lookupSymbol<func::FuncOp>(stepName);
  Operation *terminator = step.getBody().front().getTerminator();
  for (OpOperand &operand : terminator->getOpOperands()) {
    auto name = step.getResultAttrOfType<StringAttr>(operand.getOperandNumber(),
                                                     attr::gradient);
    if (!name || !name.getValue().ends_with(suffix))
      continue;
    Value gradient = operand.get();
    auto type = cast<RankedTensorType>(gradient.getType());
    OpBuilder builder(gradient.getContext());
    builder.setInsertionPointAfterValue(gradient);
    auto scalar = RankedTensorType::get({}, type.getElementType());
    Value constant = ConstantOp::create(
        builder, gradient.getLoc(), scalar,
        DenseElementsAttr::get(
            scalar, builder.getFloatAttr(type.getElementType(), factor)));
    Value scaled =
        MulOp::create(builder, gradient.getLoc(), type, gradient, constant);
    gradient.replaceAllUsesExcept(scaled, scaled.getDefiningOp());
    return success();
  }
  return module.emitError("no parameter is named *") << suffix;
}

/// Drops the weight gradients of one micro-batch from every plan.
static LogicalResult skipMicrobatch(ModuleOp module, int64_t microbatch) {
  std::string weight = Phase{Phase::Weight}.getName();
  SmallVector<RunOp> runs;
  module.walk([&](RunOp run) {
    if (run.getCallee() == weight && run.getMicrobatch() == microbatch)
      runs.push_back(run);
  });
  for (RunOp run : runs) {
    for (OpResult result : run->getResults())
      result.replaceAllUsesWith(
          run->getOperand(run.getAlias(result.getResultNumber())->operand));
    run.erase();
  }
  return success(!runs.empty());
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  StringRef bug = argc > 1 ? argv[1] : "";
  std::optional<DriverOptions> options = parseCommandLine(argc - 1, argv + 1);
  if (!options)
    return 1;
  options->afterPhase = [&](CompilePhase phase,
                            ModuleOp module) -> LogicalResult {
    if (phase == CompilePhase::Training && bug == "scale-gradient")
      return scaleGradient(module, ".weight", 2);
    if (phase == CompilePhase::Training && bug == "count-bias-per-rank")
      return scaleGradient(module, "c_proj.bias", options->compile.parallel.tp);
    if (phase == CompilePhase::Training && bug == "drop-layer-norm-gradient")
      return scaleGradient(module, "ln_1.weight", 0);
    if (phase == CompilePhase::Schedule && bug == "skip-microbatch")
      return skipMicrobatch(module, 1);
    return success();
  };
  return succeeded(compileModel(*options)) ? 0 : 1;
}
