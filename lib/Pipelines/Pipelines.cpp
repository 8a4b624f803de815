//===- Pipelines.cpp - the compiler, from top to bottom -------------------===//
//
// Read this first: every phase and every pass in order of execution, each with
// what holds after it and why it runs there. docs/Architecture/ shows the IR.
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
#include "dtc/Training/DifferentiableInterface.h"
#include "dtc/Training/Optimizers.h"
#include "dtc/Training/Passes.h"
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
// import: python-free-frontend/, no passes. ONNX -> @forward.
//===----------------------------------------------------------------------===//

//===----------------------------------------------------------------------===//
// strategy: @forward -> @step, the forward pass with its loss, and what the
// plan decides about it
//===----------------------------------------------------------------------===//

void dtc::buildStrategyPipeline(OpPassManager &manager,
                                const Strategy &strategy) {
  const TrainingOptions &options = strategy.training;
  const ParallelOptions &plan = strategy.parallel;

  // Results have the batch first, as labels do. Before all that relies on it.
  manager.addPass(createMoveBatch());

  // A model of a fixed batch gets the one asked for, while the batch is
  // in types only and nothing depends on how large it is.
  ScaleBatchOptions scale;
  scale.batch = options.batch;
  manager.addPass(createScaleBatch(scale));

  // What the user says of parameters by name. Before these are taken apart.
  MarkParametersOptions marks;
  marks.paddingIdx = llvm::to_vector(options.paddingIdx);
  marks.noDecay = llvm::to_vector(options.noDecay);
  marks.lrScale = llvm::to_vector(options.lrScales);
  manager.addPass(createMarkParameters(marks));

  // Where slices, reshapes and transposes stand does not depend on the
  // exporter. Before all that asks which dimension is which. From the end of
  // the model: a reshape before a product meets the one that it undoes.
  manager.addPass(createCanonicalizerPass(
      GreedyRewriteConfig().setUseTopDownTraversal(false)));

  // Attention is one op, with the transposes around it cancelled. In the normal
  // form, whatever the exporter; before ops have stages and gradients.
  AttentionLimits limits =
      getAttentionLimits(strategy.target, options.precision);
  FormAttentionOptions attention;
  attention.maxWidth = limits.maxWidth;
  attention.widthMultiple = limits.widthMultiple;
  manager.addPass(createFormAttention(attention));
  manager.addPass(createCanonicalizerPass(
      GreedyRewriteConfig().setUseTopDownTraversal(false)));
  // No mask hides a query's keys by infinities. Before differentiation, so that
  // gradients follow.
  if (limits.boundsMasks)
    manager.addPass(createBoundMasks());

  // No softmax that stays has NaN for a gradient. Before differentiation.
  manager.addPass(createGuardSoftmax());

  // Parameters that ranks can share evenly: queries, keys and values apart.
  SplitFusedParametersOptions fused;
  fused.tp = plan.tp;
  manager.addPass(createSplitFusedParameters(fused));

  // Heads of keys and values that tp does not divide are repeated. With
  // parameters of their own; before ops have stages.
  RepeatKeyHeadsOptions repeat;
  repeat.tp = plan.tp;
  manager.addPass(createRepeatKeyHeads(repeat));

  // Each op knows its pipeline stage. Before differentiation, since gradients
  // must end up on the stage of what they are the gradient of.
  ChooseCutsOptions cuts;
  cuts.stages = strategy.getNumVirtualStages();
  cuts.cut = llvm::to_vector(plan.cut);
  manager.addPass(createChooseCuts(cuts));

  // Every value that crosses stages does so in a dtc.boundary; stages need no
  // other mark from here on.
  manager.addPass(createInsertBoundaries());

  // The results are the loss, a sum in double precision over the batch divided
  // by a count, and what it is taken of.
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

  // Batch norm and dropout mean something in training and something else in
  // an evaluation. After the loss, which says what an evaluation predicts.
  ExpandTrainingOpsOptions expand;
  expand.statistics = options.batchNorm;
  expand.microbatches = strategy.getNumMicrobatches();
  expand.dp = plan.dp;
  expand.replicas = plan.getOpenReplicas();
  manager.addPass(createExpandTrainingOps(expand));

  // Evaluations of models that compare samples leave out what fills no batch.
  // Once the evaluation is apart, which may lack what mixes them in training.
  manager.addPass(createMarkMixedSamples());

  // Which dimensions of parameters tensor parallelism splits. With the loss,
  // which may split classes; before differentiation, which follows.
  ChooseSplitsOptions splits;
  splits.tp = plan.tp;
  splits.sp = plan.sp;
  splits.layout = llvm::to_vector(plan.layouts);
  manager.addPass(createChooseSplits(splits));

  // Vocabularies that tp does not divide are padded, and those whose rows the
  // target's library would read slowly. After the loss has bound inputs by what
  // the model has.
  PadVocabularyOptions padding;
  padding.tp = plan.tp;
  padding.multiple = getColumnMultiple(strategy.target);
  manager.addPass(createPadVocabulary(padding));

  manager.addPass(createVerify({"strategy"}));
}

//===----------------------------------------------------------------------===//
// training: @step with gradients and updates, on global shapes
//===----------------------------------------------------------------------===//

void dtc::buildTrainingPipeline(OpPassManager &manager,
                                const Strategy &strategy) {
  const TrainingOptions &options = strategy.training;
  const ParallelOptions &plan = strategy.parallel;

  // Types are those that values are stored in. After all that builds the
  // forward pass; before differentiation, which follows.
  MixedPrecisionOptions precision;
  precision.type = options.precision;
  manager.addPass(createMixedPrecision(precision));

  // A gradient for every trained parameter. Boundaries become their opposites.
  DifferentiateOptions gradients;
  gradients.freeze = llvm::to_vector(options.freeze);
  manager.addPass(createDifferentiate(gradients));

  // The gradient of what each position uses is one op. Before layouts: the
  // joined op has one layout and one reduction, in place of one for each term.
  JoinGradientsOptions join;
  join.parts = plan.dp * strategy.getNumMicrobatches();
  manager.addPass(createJoinGradients(join));

  // Parameters that ZeRO splits are flat. With their gradients, whose order
  // they have; before the optimizer, which updates each as one.
  FlattenParametersOptions flat;
  flat.zero = plan.zero;
  flat.dp = plan.dp;
  flat.hsdp = plan.hsdp;
  flat.tp = plan.tp;
  flat.bucketMb = strategy.schedule.bucketMb;
  flat.gather = plan.gather;
  flat.offload = strategy.schedule.offload;
  manager.addPass(createFlattenParameters(flat));

  // The new value of every parameter and state, and the gradient's norm, to
  // which gradients may be clipped.
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
  manager.addPass(createAddOptimizer(optimizer));

  // What an evaluation sums up. After all that trains, which does not depend on
  // it.
  BuildEvalOptions eval;
  eval.loss = options.loss;
  if (options.ignoreIndex)
    eval.ignoreIndex = std::to_string(*options.ignoreIndex);
  eval.labelSmoothing = options.labelSmoothing;
  eval.classWeights = llvm::to_vector(options.classWeights);
  eval.replicas = plan.getOpenReplicas();
  manager.addPass(createBuildEval(eval));

  // Gradient rules repeat constants and subexpressions, and so does the
  // evaluation.
  manager.addPass(createCSEPass());

  manager.addPass(createVerify({"training"}));
}

//===----------------------------------------------------------------------===//
// parallel: layouts in all types
//===----------------------------------------------------------------------===//

void dtc::buildParallelPipeline(OpPassManager &manager,
                                const Strategy &strategy) {
  const ParallelOptions &options = strategy.parallel;

  // Arguments say how they are split. All else follows from them.
  AssignMeshOptions mesh;
  mesh.dp = options.dp;
  mesh.hsdp = options.hsdp;
  mesh.pp = options.pp;
  mesh.tp = options.tp;
  mesh.microbatches = options.microbatches;
  mesh.accumulate = strategy.schedule.accumulate;
  mesh.order = llvm::to_vector(options.order);
  manager.addPass(createAssignMesh(mesh));

  // Every value has a layout; where a rule did not hold there is a reshard.
  PropagateLayoutsOptions propagation;
  propagation.replicasAtLaunch = options.replicasAtLaunch;
  manager.addPass(createPropagateLayouts(propagation));

  // Expansions of a loss and of its gradient share most of what they compute.
  manager.addPass(createCSEPass());

  // Every communication within a stage is an op of its own.
  InsertCollectivesOptions collectives;
  collectives.reduceDtype = options.reduceDtype;
  manager.addPass(createInsertCollectives(collectives));

  manager.addPass(createVerify({"parallel"}));
}

//===----------------------------------------------------------------------===//
// schedule: a plan per stage
//===----------------------------------------------------------------------===//

void dtc::buildSchedulePipeline(OpPassManager &manager,
                                const Strategy &strategy) {
  const ScheduleOptions &options = strategy.schedule;

  // Attention reads a projection as it lies, where the target's library does.
  // With all communication in place; then nothing is between the projection and
  // its bias.
  AttentionLimits limits =
      getAttentionLimits(strategy.target, strategy.training.precision);
  PackAttentionOptions packing;
  packing.maxScores = limits.maxScores;
  if (computes(strategy.target, LibraryFunction::PackedAttention))
    manager.addPass(createPackAttention(packing));

  // Products compute what follows them, where the target's library does.
  // Before activations are kept or made again.
  if (computes(strategy.target, LibraryFunction::MatMulEpilogue))
    manager.addPass(createFormEpilogues());

  // Products sum what they read, likewise. Epilogues leave fewer rows to
  // kernels, which sum on the way.
  if (computes(strategy.target, LibraryFunction::MatMulEpilogue))
    manager.addPass(createFormBiasGradients());

  // A module per stage, and one per stage of the evaluation; types are those of
  // one micro-batch.
  SplitStagesOptions split;
  split.joinWeights = options.joinsWeights();
  manager.addPass(createSplitStages(split));

  // Activations that the backward pass makes again do not wait for it. After
  // the split, since in one function they would be common subexpressions.
  RecomputeOptions recompute;
  recompute.policy = options.recompute;
  manager.addPass(createRecompute(recompute));

  // Attention that the target's library does not compute is products, in blocks
  // so that scores are never all there. After what is recomputed is chosen:
  // the gradient makes the scores again.
  manager.addPass(createDivideAttention());

  // The library's gradient of long attention is that of blocks which fit its
  // workspace. On the shapes of one micro-batch on one rank.
  DivideAttentionGradientOptions blocks;
  blocks.maxScores = limits.maxScores;
  manager.addPass(createDivideAttentionGradient(blocks));

  // Each stage's plan: runs, sends and receives in the schedule's order.
  ScheduleMicrobatchesOptions microbatches;
  microbatches.schedule = options.schedule;
  microbatches.rounds = options.accumulate;
  manager.addPass(createScheduleMicrobatches(microbatches));

  // The update takes gradients that last runs have reduced, in buckets, and
  // parameters as the step has gathered them.
  PrepareUpdateOptions update;
  update.bucketMb = options.bucketMb;
  update.offload = options.offload;
  manager.addPass(createPrepareUpdate(update));

  // What stays in stage functions is kernels, products, views, collectives.
  // Before memory is planned, so that values inside kernels need none.
  FormKernelsOptions kernels;
  kernels.joins = joinsKernels(strategy.target);
  kernels.poolings = !computes(strategy.target, LibraryFunction::Pooling);
  manager.addPass(createFormKernels(kernels));

  // What is not needed at once is in flight while ranks compute. After kernels
  // are formed: from here on ops keep their order.
  manager.addPass(createOverlapCommunication());

  // Nothing is overwritten while it is needed. After all that moves ops.
  manager.addPass(createInsertCopies());

  // Every buffer has an offset, every rank's peak is known.
  PlanMemoryOptions memory;
  memory.offload = options.offload;
  manager.addPass(createPlanMemory(memory));
  manager.addPass(createVerify({"memory"}));

  // No rank waits for what never comes.
  manager.addPass(createVerify({"communication"}));

  // Tests see what is read of dead memory.
  if (options.poisonMemory)
    manager.addPass(createPoisonMemory());
}

//===----------------------------------------------------------------------===//
// lower: LLVM dialect
//===----------------------------------------------------------------------===//

void dtc::buildLowerPipeline(OpPassManager &manager,
                             std::shared_ptr<const Target> target) {
  // What a program tells people of its speed. While kernels are dtc ops.
  manager.addPass(createRecordWork());
  // Kernels first: how much scratch they need is known only then.
  target->addKernelPasses(manager);
  // Addresses and calls; one flat module.
  manager.addPass(createLowerPlan(std::move(target)));
  // What was proved of plans holds for the calls that are left of them.
  manager.addPass(createVerify({"lowered-communication"}));
}

//===----------------------------------------------------------------------===//

std::string dtc::getNumbers(const CompileOptions &options) {
  if (options.import.f64)
    return "f64";
  const std::string &precision = options.training.precision;
  return precision == "fp32" ? "f32" : precision;
}

/// The target that a module is compiled for.
static FailureOr<std::shared_ptr<const Target>>
getTarget(ModuleOp module, const Strategy &strategy) {
  llvm::Expected<std::shared_ptr<const Target>> target =
      getTarget(strategy.target);
  if (!target)
    return module.emitError(llvm::toString(target.takeError()));
  return *target;
}

/// Adds the passes of a phase; import and link have none. Only the phase lower
/// asks the target.
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

/// Adds the passes of a phase, as the module's strategy says.
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

/// A phase as a pass: its passes depend on the module's strategy.
template <CompilePhase phase>
struct PhasePass : PassWrapper<PhasePass<phase>, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PhasePass)

  StringRef getArgument() const override {
    static const std::string argument =
        ("dtc-" + getPhaseName(phase) + "-phase").str();
    return argument;
  }
  StringRef getDescription() const override {
    return "run all passes of the phase, as the attribute dtc.strategy says";
  }

  void getDependentDialects(DialectRegistry &registry) const override {
    // Which passes there are may depend on the strategy, but their dialects
    // only on the target.
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
    // A file of another phase is refused before its ops surprise a pass.
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
