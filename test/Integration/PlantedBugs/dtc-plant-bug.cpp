//===- dtc-plant-bug.cpp - dtc, with a bug put into its IR ----------------===//
//
// dtc-plant-bug BUG ARGUMENTS... compiles as `dtc ARGUMENTS...` does, but
// changes the IR between phases. The tests that compare gradients must notice.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/Dialect.h"
#include "dtc/Dialect/FindFunction.h"
#include "dtc/Driver/Driver.h"
#include "dtc/Memory/MemoryPlan.h"
#include "dtc/Plan/KernelOps.h"
#include "dtc/Plan/Skeleton.h"
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
  SmallVector<RunOp> runs;
  module.walk([&](RunOp run) {
    if (getPhase(run) == Phase{Phase::Weight} &&
        run.getMicrobatch() == microbatch)
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

/// Lets each rank go on with its own value times `factor` instead of the sum
/// over ranks, in the place of the sum.
static void keepOwn(ModuleOp module, AllReduceOp reduce, double factor) {
  Location loc = reduce.getLoc();
  Value own = reduce->getOperand(0);
  auto scalar = RankedTensorType::get(
      {}, cast<RankedTensorType>(own.getType()).getElementType());

  auto kernels = module.lookupSymbol<ModuleOp>(kernelsName);
  OpBuilder b(module.getContext());
  auto kernel = func::FuncOp::create(loc, "kernel_keep_own",
                                     b.getFunctionType(scalar, scalar));
  kernel->setAttr(attr::kernel, b.getUnitAttr());
  b.setInsertionPointToStart(kernel.addEntryBlock());
  Value constant = ConstantOp::create(
      b, loc, scalar,
      DenseElementsAttr::get(scalar,
                             b.getFloatAttr(scalar.getElementType(), factor)));
  Value scaled = MulOp::create(b, loc, scalar, kernel.getArgument(0), constant);
  func::ReturnOp::create(b, loc, scaled);
  kernel.setArgAttr(0, attr::update, b.getI64IntegerAttr(0));
  StringAttr name = SymbolTable(kernels).insert(kernel);

  b.setInsertionPoint(reduce);
  auto launch =
      LaunchOp::create(b, loc, reduce->getResultTypes(),
                       SymbolRefAttr::get(kernels.getSymNameAttr(),
                                          FlatSymbolRefAttr::get(name)),
                       own);
  launch->setDiscardableAttrs(reduce->getDiscardableAttrDictionary());
  reduce->replaceAllUsesWith(launch);
  reduce->erase();
}

/// Each rank clips by the norm of the gradients that it holds: the sums over
/// ranks that the root is taken of are left out.
static LogicalResult clipByLocalNorm(ModuleOp module) {
  SmallVector<AllReduceOp> reductions;
  module.walk([&](LaunchOp launch) {
    launch.getFunction()->walk([&](SqrtOp root) {
      auto argument = dyn_cast<BlockArgument>(root->getOperand(0));
      if (!argument || cast<RankedTensorType>(argument.getType()).getRank() > 0)
        return;
      Operation *op =
          launch.getInputs()[argument.getArgNumber()].getDefiningOp();
      for (; isa_and_nonnull<AllReduceOp, AsPartialOp>(op);
           op = op->getOperand(0).getDefiningOp())
        if (auto reduce = dyn_cast<AllReduceOp>(op))
          reductions.push_back(reduce);
    });
  });
  for (AllReduceOp reduce : reductions)
    keepOwn(module, reduce, 1);
  return reductions.empty() ? module.emitError("no norm is a sum over ranks")
                            : success();
}

/// Each of `dp` ranks takes the mean over its own labels that count, and the
/// mean of these means is the loss: right only where all have equally many.
static LogicalResult averageLocalMeans(ModuleOp module, int64_t dp) {
  SmallVector<AllReduceOp> counts;
  module.walk([&](AllReduceOp reduce) {
    if (getPhase(reduce->getParentOfType<func::FuncOp>()) ==
        Phase{Phase::Prologue})
      counts.push_back(reduce);
  });
  for (AllReduceOp count : counts)
    keepOwn(module, count, static_cast<double>(dp));
  return counts.empty() ? module.emitError("no labels are counted over ranks")
                        : success();
}

/// With --poison-memory: a buffer is dead before the op that needs it last.
static LogicalResult freeEarly(ModuleOp module) {
  SmallVector<PoisonOp> poisons;
  module.walk([&](PoisonOp poison) { poisons.push_back(poison); });
  for (PoisonOp poison : poisons) {
    Operation *last = poison->getPrevNode();
    auto isFreed = [&](Value operand) {
      return getPlannedOffset(operand) ==
             static_cast<int64_t>(poison.getOffset());
    };
    if (isa_and_nonnull<LaunchOp>(last) &&
        llvm::any_of(last->getOperands(), isFreed)) {
      poison->moveBefore(last);
      return success();
    }
  }
  return module.emitError("no kernel is the last to need a buffer");
}

/// Keeps the states of a name as they are.
static LogicalResult forgetState(ModuleOp module, StringRef suffix) {
  auto step = module.lookupSymbol<func::FuncOp>(stepName);
  Operation *terminator = step.getBody().front().getTerminator();
  bool found = false;
  for (BlockArgument argument : step.getArguments())
    for (OpOperand &operand : terminator->getOpOperands()) {
      auto kept = step.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                    attr::state);
      if (!kept || !kept.getValue().ends_with(suffix) ||
          kept != step.getResultAttr(operand.getOperandNumber(), attr::state))
        continue;
      operand.set(argument);
      found = true;
    }
  return found ? success() : module.emitError("no state is named *") << suffix;
}

/// Workers mix with those two places away, in place of their neighbours.
static LogicalResult mixWithOthers(ModuleOp module) {
  bool found = false;
  module.walk([&](PermuteRowsOp rows) {
    SmallVector<int64_t> sources;
    for (int64_t source : rows.getSources())
      sources.push_back(rows.getSources()[source]);
    rows.setSources(sources);
    found = true;
  });
  return found ? success() : module.emitError("no worker has neighbours");
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
    if (phase == CompilePhase::Training && bug == "forget-residual")
      return forgetState(module, ".residual");
    if (phase == CompilePhase::Training && bug == "forget-momentum")
      return forgetState(module, ".outer_momentum");
    if (phase == CompilePhase::Training && bug == "mix-with-others")
      return mixWithOthers(module);
    if (phase == CompilePhase::Schedule && bug == "skip-microbatch")
      return skipMicrobatch(module, 1);
    if (phase == CompilePhase::Schedule && bug == "clip-by-local-norm")
      return clipByLocalNorm(module);
    if (phase == CompilePhase::Schedule && bug == "free-early")
      return freeEarly(module);
    if (phase == CompilePhase::Schedule && bug == "average-local-means")
      return averageLocalMeans(module, options->compile.parallel.dp);
    return success();
  };
  return succeeded(compileModel(*options)) ? 0 : 1;
}
