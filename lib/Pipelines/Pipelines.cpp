//===- Pipelines.cpp - the compiler, from top to bottom -------------------===//
//
// Read this file first. It lists every phase and every pass in order of
// execution. The comment on a pass says what holds after it, and why it runs at
// that place. docs/Architecture/ shows the IR after each phase.
//
//===----------------------------------------------------------------------===//

#include "dtc/Pipelines/Pipelines.h"
#include "dtc/Dialect/Dialect.h"
#include "dtc/Lowering/LibraryCall.h"
#include "dtc/Lowering/LinalgLowering.h"
#include "dtc/Lowering/Passes.h"
#include "dtc/Memory/Passes.h"
#include "dtc/Parallel/Passes.h"
#include "dtc/Pipelines/Passes.h"
#include "dtc/Propagation/SplitExpansion.h"
#include "dtc/Report/Passes.h"
#include "dtc/Schedule/Passes.h"
#include "dtc/Strategy/Passes.h"
#include "dtc/Target/Targets.h"
#include "dtc/Training/Compressors.h"
#include "dtc/Training/DifferentiableInterface.h"
#include "dtc/Training/Optimizers.h"
#include "dtc/Training/Passes.h"
#include "dtc/Training/Synchronization.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace dtc;

StringRef dtc::getPhaseName(CompilePhase phase) {
  static constexpr llvm::StringLiteral names[] = {
      "import",   "strategy", "training", "parallel",
      "schedule", "lower",    "link"};
  return names[static_cast<int>(phase)];
}

//===----------------------------------------------------------------------===//
// import: python-free-frontend/ reads ONNX and builds @forward. No passes.
//===----------------------------------------------------------------------===//

//===----------------------------------------------------------------------===//
// strategy: @forward becomes @step, the forward pass with its loss. Stages,
// tensor-parallel splits and the fusion of attention are chosen here.
//===----------------------------------------------------------------------===//

void dtc::buildStrategyPipeline(OpPassManager &manager,
                                const Strategy &strategy) {
  const TrainingOptions &options = strategy.training;
  const ParallelOptions &plan = strategy.parallel;

  // Every result of the model has the batch as its first dimension, as the
  // labels do. Runs first, since the passes below rely on it.
  manager.addPass(createMoveBatch());

  // A model with a fixed batch size has the size that --batch asks for. Runs
  // while only types contain the batch size.
  ScaleBatchOptions scale;
  scale.batch = options.batch;
  manager.addPass(createScaleBatch(scale));

  // Parameters have attributes for the options that name them (--no-decay,
  // --lr-scale, --padding-idx). Runs before parameters are split, since these
  // options use the model's names.
  MarkParametersOptions marks;
  marks.paddingIdx = llvm::to_vector(options.paddingIdx);
  marks.noDecay = llvm::to_vector(options.noDecay);
  marks.lrScale = llvm::to_vector(options.lrScales);
  manager.addPass(createMarkParameters(marks));

  // Slices, reshapes and transposes stand at the same places, whichever
  // exporter wrote the file. Runs before the passes that match patterns. The
  // rewriter starts at the end of the model, so that a reshape in front of a
  // matmul meets the reshape that it cancels.
  manager.addPass(createCanonicalizerPass(
      GreedyRewriteConfig().setUseTopDownTraversal(false)));

  // Attention is one op, and the transposes around it are gone. Runs on the
  // normal form, and before ops have stages and gradients.
  AttentionLimits limits =
      getAttentionLimits(strategy.target, options.precision);
  FormAttentionOptions attention;
  attention.maxWidth = limits.maxWidth;
  attention.widthMultiple = limits.widthMultiple;
  manager.addPass(createFormAttention(attention));
  // Products with chosen matrices, as in mixtures of experts, are one op, and
  // the matrices are not copied. Runs where attention is formed, for the same
  // reasons.
  if (computes(strategy.target, LibraryFunction::GroupedMatMul))
    manager.addPass(createFormGroupedProducts());
  manager.addPass(createCanonicalizerPass(
      GreedyRewriteConfig().setUseTopDownTraversal(false)));
  // Masks of attention are finite: they hide keys with a large negative number
  // instead of -inf. Runs before differentiation, so that gradients are those
  // of the finite mask.
  if (limits.boundsMasks)
    manager.addPass(createBoundMasks());

  // No remaining softmax has NaN as its gradient, even if a row is all -inf.
  // Runs before differentiation, which differentiates the guard, too.
  manager.addPass(createGuardSoftmax());

  // Fused projections, such as one weight for queries, keys and values, are
  // separate parameters that tp divides evenly.
  SplitFusedParametersOptions fused;
  fused.tp = plan.tp;
  manager.addPass(createSplitFusedParameters(fused));

  // Heads of keys and values are repeated until tp divides their number
  // (grouped-query attention). Runs after fused projections are split, since
  // only the parameters of keys and values are repeated, and before ops have
  // stages.
  RepeatKeyHeadsOptions repeat;
  repeat.tp = plan.tp;
  manager.addPass(createRepeatKeyHeads(repeat));

  // Every op has a pipeline stage. Runs before differentiation, because the
  // gradient of a value is computed on the stage of that value.
  ChooseCutsOptions cuts;
  cuts.stages = strategy.getNumVirtualStages();
  cuts.cut = llvm::to_vector(plan.cut);
  manager.addPass(createChooseCuts(cuts));

  // Every value that crosses stages does so in a dtc.boundary. From here on
  // boundaries alone mark the stages.
  manager.addPass(createInsertBoundaries());

  // @step returns the loss and the model's output. The loss is a sum in double
  // precision over the batch, divided by a count.
  AddLossOptions loss;
  loss.loss = options.loss;
  loss.output = options.output;
  if (options.ignoreIndex)
    loss.ignoreIndex = std::to_string(*options.ignoreIndex);
  loss.classAxis = options.classAxis;
  loss.reduction = options.reduction;
  loss.labelSmoothing = options.labelSmoothing;
  loss.classWeights = llvm::to_vector(options.classWeights);
  loss.replicas = plan.getOpenReplicas();
  manager.addPass(createAddLoss(loss));

  // Batch norm and dropout are expanded, once for training and once for
  // evaluation. Runs after AddLoss, which chooses the output that an evaluation
  // predicts with.
  ExpandTrainingOpsOptions expand;
  expand.statistics = options.batchNorm;
  expand.microbatches = strategy.getNumMicrobatches();
  expand.dp = plan.dp / countPositions(plan);
  expand.replicas = plan.getOpenReplicas();
  manager.addPass(createExpandTrainingOps(expand));

  // Biases of routers move against the load of experts (--expert-bias-update).
  // Runs once the evaluation has its own ops: it reads the biases of the step
  // before.
  BalanceExpertsOptions balance;
  balance.update = options.expertBiasUpdate.value_or(0);
  balance.biases = options.expertBiases;
  manager.addPass(createBalanceExperts(balance));

  // Models whose predictions mix samples are marked: their evaluation leaves
  // out an incomplete last batch. Runs once the evaluation has its own ops,
  // because a model may mix samples in training only.
  manager.addPass(createMarkMixedSamples());

  // Rows of mixtures of experts are in slots of their experts (--ep). Runs
  // after MarkMixedSamples, since slots hold rows of several samples, and
  // before ChooseSplits, which splits the experts' weights by tp as well. CSE
  // makes equal indices one value.
  ExchangeExpertsOptions experts;
  experts.ep = plan.ep;
  experts.groups = plan.dp * strategy.getNumMicrobatches();
  experts.capacity = plan.expertCapacity.value_or(0);
  if (plan.ep > 1) {
    manager.addPass(createCSEPass());
    manager.addPass(createExchangeExperts(experts));
  }

  // Each parameter that tensor parallelism splits has the dimension of the
  // split. Runs after AddLoss, since the loss can be split over classes, and
  // before differentiation, which gives gradients the same split.
  ChooseSplitsOptions splits;
  splits.tp = plan.tp;
  splits.sp = plan.sp;
  splits.layout = llvm::to_vector(plan.layouts);
  manager.addPass(createChooseSplits(splits));

  // Vocabularies are padded to a multiple of tp, and to a size at which the
  // target's matmul library reads rows fast. Runs after AddLoss has taken the
  // bounds of token ids from the unpadded vocabulary.
  PadVocabularyOptions padding;
  padding.tp = plan.tp;
  padding.multiple = getColumnMultiple(strategy.target);
  manager.addPass(createPadVocabulary(padding));

  manager.addPass(createVerify({"strategy"}));
}

//===----------------------------------------------------------------------===//
// training: @step gets gradients and optimizer updates, on global shapes
//===----------------------------------------------------------------------===//

void dtc::buildTrainingPipeline(OpPassManager &manager,
                                const Strategy &strategy) {
  const TrainingOptions &options = strategy.training;
  const ParallelOptions &plan = strategy.parallel;

  // Element types are those in which values are stored: bf16 or fp16 for
  // activations with --precision. Runs before differentiation, which gives
  // gradients the types of their values.
  MixedPrecisionOptions precision;
  precision.type = options.precision;
  manager.addPass(createMixedPrecision(precision));

  // Every trained parameter has a gradient. The gradient of a boundary is a
  // boundary in the opposite direction.
  DifferentiateOptions gradients;
  gradients.freeze = llvm::to_vector(options.freeze);
  manager.addPass(createDifferentiate(gradients));

  // If a layer runs once per position, the gradient of its weight is one matmul
  // over all positions. Runs before layouts are chosen: the joined matmul has
  // one layout and one reduction instead of one for each position.
  JoinGradientsOptions join;
  join.parts = plan.dp / countPositions(plan) * strategy.getNumMicrobatches();
  manager.addPass(createJoinGradients(join));

  // Parameters that ZeRO shards lie in flat parameters ("buckets"), in the
  // order in which their gradients are complete. Runs after differentiation,
  // which sets that order, and before the optimizer, which updates a bucket as
  // one tensor.
  FlattenParametersOptions flat;
  flat.zero = plan.zero;
  flat.dp = plan.dp;
  flat.hsdp = plan.hsdp;
  flat.ep = plan.ep;
  flat.tp = plan.tp;
  flat.bucketMb = strategy.schedule.bucketMb;
  flat.gather = plan.gather;
  flat.offload = strategy.schedule.offload;
  flat.align = getBlockSize(plan.compress);
  manager.addPass(createFlattenParameters(flat));

  // Gradients are sums of what the ranks' codes stand for (--compress), or of
  // the terms of an earlier step (--sync delayed); the step keeps errors and
  // terms. Runs before the optimizer, which clips and applies these sums.
  ExchangeGradientsOptions exchange;
  exchange.compressor = plan.compress;
  exchange.errorFeedback = plan.errorFeedback;
  exchange.delay = getSynchronization(plan).delay;
  exchange.dp = plan.dp;
  exchange.hsdp = plan.hsdp;
  exchange.tp = plan.tp;
  exchange.bucketMb = strategy.schedule.bucketMb;
  manager.addPass(createExchangeGradients(exchange));

  // @step returns the new value of every parameter and optimizer state, and the
  // norm of the gradient, by which --clip-norm scales gradients.
  AddOptimizerOptions optimizer;
  optimizer.optimizer = options.optimizer;
  for (const auto &[name, value] : getGivenSettings(options)) {
    std::string setting;
    llvm::raw_string_ostream(setting)
        << name << '=' << llvm::format("%.17g", value);
    optimizer.settings.push_back(setting);
  }
  optimizer.clipNorm = options.clipNorm.value_or(0);
  optimizer.ema = options.ema.value_or(0);
  optimizer.skipNonFinite = options.skipNonFinite;
  optimizer.served = getSynchronization(plan).hasServer();
  manager.addPass(createAddOptimizer(optimizer));

  // @step returns the sums that an evaluation reports. Runs after all passes
  // that build the training, which does not depend on them.
  BuildEvalOptions eval;
  eval.loss = options.loss;
  if (options.ignoreIndex)
    eval.ignoreIndex = std::to_string(*options.ignoreIndex);
  eval.labelSmoothing = options.labelSmoothing;
  eval.classWeights = llvm::to_vector(options.classWeights);
  eval.replicas = plan.getOpenReplicas();
  manager.addPass(createBuildEval(eval));

  // If replicas train apart (--sync every, gossip), @step also returns the
  // parameters that programs between steps mix. Runs last, when all parameters
  // and states are there.
  SynchronizeWorkersOptions workers;
  workers.sync = plan.sync;
  workers.workers = countPositions(plan);
  workers.tp = plan.tp;
  workers.bucketMb = strategy.schedule.bucketMb;
  manager.addPass(createSynchronizeWorkers(workers));

  // If a server updates the parameters (--sync async), the updates become a
  // program that it runs for each gradient. Runs last, as the pass before.
  ServeParametersOptions server;
  server.workers = countWorkers(plan);
  if (getSynchronization(plan).hasServer())
    manager.addPass(createServeParameters(server));

  // Merges constants and subexpressions that gradient rules and the evaluation
  // have created twice.
  manager.addPass(createCSEPass());

  manager.addPass(createVerify({"training"}));
}

//===----------------------------------------------------------------------===//
// parallel: every type has a layout, and every reshard is a collective
//===----------------------------------------------------------------------===//

void dtc::buildParallelPipeline(OpPassManager &manager,
                                const Strategy &strategy) {
  const ParallelOptions &options = strategy.parallel;

  // The arguments of @step have layouts. The next pass derives all other
  // layouts from these.
  AssignMeshOptions mesh;
  mesh.dp = options.dp;
  mesh.hsdp = options.hsdp;
  mesh.ep = options.ep;
  mesh.workers = countPositions(options) > 1;
  mesh.pp = options.pp;
  mesh.tp = options.tp;
  mesh.microbatches = options.microbatches;
  mesh.accumulate = strategy.schedule.accumulate;
  mesh.order = llvm::to_vector(options.order);
  manager.addPass(createAssignMesh(mesh));

  // Every value has a layout. A dtc.reshard stands wherever an op needs another
  // layout of its operand.
  PropagateLayoutsOptions propagation;
  propagation.replicasAtLaunch = options.replicasAtLaunch;
  manager.addPass(createPropagateLayouts(propagation));

  // Merges what the expansions of a loss and of its gradient both compute.
  manager.addPass(createCSEPass());

  // Every reshard is a sequence of collectives. All communication within a
  // stage is explicit.
  InsertCollectivesOptions collectives;
  collectives.reduceDtype = options.reduceDtype;
  manager.addPass(createInsertCollectives(collectives));

  manager.addPass(createVerify({"parallel"}));
}

//===----------------------------------------------------------------------===//
// schedule: @step becomes a plan for each pipeline stage, with static memory
//===----------------------------------------------------------------------===//

void dtc::buildSchedulePipeline(OpPassManager &manager,
                                const Strategy &strategy) {
  const ScheduleOptions &options = strategy.schedule;

  // Attention reads queries, keys and values from one projection, if the
  // target's library supports it. Runs after collectives are inserted, when
  // nothing stands between the projection and its bias.
  AttentionLimits limits =
      getAttentionLimits(strategy.target, strategy.training.precision);
  PackAttentionOptions packing;
  packing.maxScores = limits.maxScores;
  if (computes(strategy.target, LibraryFunction::PackedAttention))
    manager.addPass(createPackAttention(packing));

  // Matmuls compute the elementwise ops that follow them, if the target's
  // library has such epilogues. Runs before the choice of activations to
  // recompute, since an epilogue changes which values are stored.
  if (computes(strategy.target, LibraryFunction::MatMulEpilogue))
    manager.addPass(createFormEpilogues());

  // Matmuls for weight gradients also sum their operand for the bias gradient,
  // if the library supports it. Runs after epilogues are formed. A kernel that
  // remains computes such a sum itself.
  if (computes(strategy.target, LibraryFunction::MatMulEpilogue))
    manager.addPass(createFormBiasGradients());

  // Each stage is a module, and each stage of the evaluation is another. Types
  // are those of one micro-batch on one rank.
  SplitStagesOptions split;
  split.joinWeights = options.joinsWeights();
  manager.addPass(createSplitStages(split));

  // The backward pass recomputes the activations that --recompute selects, so
  // the step does not store them (activation checkpointing). Runs after the
  // split: forward and backward pass are separate functions now, and CSE cannot
  // merge the recomputation with the original.
  RecomputeOptions recompute;
  recompute.policy = options.recompute;
  manager.addPass(createRecompute(recompute));

  // Attention that the target's library does not compute becomes matmuls on
  // blocks, so that the scores are never all in memory. Runs after Recompute:
  // the gradient computes the scores again.
  manager.addPass(createDivideAttention());

  // The gradient of long attention is computed in blocks that fit the workspace
  // of the target's library. Runs on the local shapes of one micro-batch, which
  // set the size of that workspace.
  DivideAttentionGradientOptions blocks;
  blocks.maxScores = limits.maxScores;
  manager.addPass(createDivideAttentionGradient(blocks));

  // Each stage has a plan: its runs, sends and receives in the order of the
  // pipeline schedule.
  ScheduleMicrobatchesOptions microbatches;
  microbatches.schedule = options.schedule;
  microbatches.rounds = options.accumulate;
  manager.addPass(createScheduleMicrobatches(microbatches));

  // Gradients are reduced in buckets in the last micro-batch of a step. The
  // update takes these reduced gradients, and the parameters that the step has
  // gathered.
  PrepareUpdateOptions update;
  update.bucketMb = options.bucketMb;
  update.offload = options.offload;
  manager.addPass(createPrepareUpdate(update));

  // Stage functions consist of kernels, library calls, views and collectives.
  // Runs before memory is planned, so that values inside a kernel need no
  // buffer.
  FormKernelsOptions kernels;
  kernels.joins = joinsKernels(strategy.target);
  kernels.poolings = !computes(strategy.target, LibraryFunction::Pooling);
  manager.addPass(createFormKernels(kernels));

  // Communication runs while ranks compute: an op starts it, and another op
  // waits for it. Runs after kernels are formed, because from here on ops keep
  // their order.
  manager.addPass(createOverlapCommunication());

  // No op overwrites a buffer that a later op reads. Runs after the last pass
  // that moves ops.
  manager.addPass(createInsertCopies());

  // Every buffer has an offset in the arena, and the peak of every rank is
  // known. Verify checks that no two live buffers overlap.
  PlanMemoryOptions memory;
  memory.offload = options.offload;
  manager.addPass(createPlanMemory(memory));
  manager.addPass(createVerify({"memory"}));

  // Proves that no rank deadlocks: all sends, receives and collectives match.
  manager.addPass(createVerify({"communication"}));

  // Fills memory without a live buffer with NaN, so that tests detect reads of
  // dead memory.
  if (options.poisonMemory)
    manager.addPass(createPoisonMemory());
}

//===----------------------------------------------------------------------===//
// lower: plans and kernels become code in the LLVM dialect
//===----------------------------------------------------------------------===//

void dtc::buildLowerPipeline(OpPassManager &manager,
                             std::shared_ptr<const Target> target) {
  // Plans contain the FLOPs and bytes of each launch, for profiles. Runs while
  // kernels still consist of dtc ops.
  manager.addPass(createRecordWork());
  // Kernels are functions of the LLVM dialect. Runs before LowerPlan, which
  // reserves the scratch memory that kernels need.
  target->addKernelPasses(manager);
  // Tensors are addresses, and plans are lists of calls, in one flat module.
  manager.addPass(createLowerPlan(std::move(target)));
  // Proves on the remaining calls what was proved on the plans.
  manager.addPass(createVerify({"lowered-communication"}));
}

//===----------------------------------------------------------------------===//

std::string dtc::getNumbers(const CompileOptions &options) {
  if (options.import.f64)
    return "f64";
  const std::string &precision = options.training.precision;
  return precision == "fp32" ? "f32" : precision;
}

/// Returns the target that the strategy names. Emits an error if there is none.
static FailureOr<std::shared_ptr<const Target>>
getTarget(ModuleOp module, const Strategy &strategy) {
  llvm::Expected<std::shared_ptr<const Target>> target =
      getTarget(strategy.target);
  if (!target)
    return module.emitError(llvm::toString(target.takeError()));
  return *target;
}

/// Adds the passes of a phase. Import and link have none. Only the lower phase
/// uses `target`; it may be null for others.
static void buildPhase(CompilePhase phase, OpPassManager &manager,
                       const Strategy &strategy,
                       std::shared_ptr<const Target> target) {
  switch (phase) {
  case CompilePhase::Strategy:
    return buildStrategyPipeline(manager, strategy);
  case CompilePhase::Training:
    return buildTrainingPipeline(manager, strategy);
  case CompilePhase::Parallel:
    return buildParallelPipeline(manager, strategy);
  case CompilePhase::Schedule:
    return buildSchedulePipeline(manager, strategy);
  case CompilePhase::Lower:
    return buildLowerPipeline(manager, std::move(target));
  case CompilePhase::Import:
  case CompilePhase::Link:
    return;
  }
}

/// Adds the passes of a phase, by the module's strategy attribute.
static LogicalResult buildPhase(CompilePhase phase, OpPassManager &manager,
                                ModuleOp module) {
  FailureOr<Strategy> strategy = Strategy::get(module);
  if (failed(strategy))
    return failure();
  FailureOr<std::shared_ptr<const Target>> target;
  if (phase == CompilePhase::Lower) {
    target = getTarget(module, *strategy);
    if (failed(target))
      return failure();
  }
  buildPhase(phase, manager, *strategy, succeeded(target) ? *target : nullptr);
  return success();
}

LogicalResult dtc::runPhase(CompilePhase phase, ModuleOp module) {
  PassManager manager(module.getContext());
  manager.enableVerifier(false);
  if (failed(buildPhase(phase, manager, module)))
    return failure();
  return failed(manager.run(module)) ? failure() : verify(module);
}

namespace {

/// Runs a phase as one pass, because its list of passes depends on the module's
/// strategy.
template <CompilePhase phase>
struct PhasePass : PassWrapper<PhasePass<phase>, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PhasePass)

  StringRef getArgument() const override {
    static const std::string argument =
        ("dtc-" + getPhaseName(phase) + "-phase").str();
    return argument;
  }
  StringRef getDescription() const override {
    return "Run all passes of the phase, by the attribute dtc.strategy";
  }

  void getDependentDialects(DialectRegistry &registry) const override {
    // The strategy decides which passes run, but only the target decides which
    // dialects they need.
    for (StringRef kind : getTargetKinds()) {
      OpPassManager passes(ModuleOp::getOperationName());
      Strategy strategy;
      strategy.target.kind = kind.str();
      buildPhase(phase, passes, strategy,
                 llvm::cantFail(getTarget(strategy.target)));
      passes.getDependentDialects(registry);
    }
  }

  void runOnOperation() override {
    ModuleOp module = this->getOperation();
    // Rejects a file of another phase with a clear error, before a pass meets
    // ops that it does not know.
    OpPassManager passes(ModuleOp::getOperationName());
    if constexpr (phase == CompilePhase::Training)
      passes.addPass(createVerify({"strategy"}));
    if constexpr (phase == CompilePhase::Parallel)
      passes.addPass(createVerify({"training"}));
    if constexpr (phase == CompilePhase::Schedule)
      passes.addPass(createVerify({"parallel"}));
    if (failed(buildPhase(phase, passes, module)) ||
        failed(this->runPipeline(passes, module)))
      this->signalPassFailure();
  }
};

} // namespace

void dtc::registerDialects(DialectRegistry &registry) {
  registry.insert<DTCDialect, func::FuncDialect>();
  registerGradients(registry);
  registerSplitExpansions(registry);
  registerLinalgLoweringModels(registry);
  registerLibraryCallModels(registry);
}

void dtc::registerPasses() {
  registerDTCStrategyPasses();
  registerDTCTrainingPasses();
  registerDTCParallelPasses();
  registerDTCMemoryPasses();
  registerDTCSchedulePasses();
  registerDTCReportPasses();
  registerLowerToLinalg();
  registerExpandMath();
  registerPass([] {
    return createLowerPlan(llvm::cantFail(getTarget(TargetOptions())));
  });
  registerTargetPasses();
  registerDTCPipelinesPasses();
  registerCSEPass();
  registerCanonicalizerPass();
  PassRegistration<PhasePass<CompilePhase::Strategy>>();
  PassRegistration<PhasePass<CompilePhase::Training>>();
  PassRegistration<PhasePass<CompilePhase::Parallel>>();
  PassRegistration<PhasePass<CompilePhase::Schedule>>();
  PassRegistration<PhasePass<CompilePhase::Lower>>();
}
