//===- FinishPlan.cpp - options about ranks, memory and the schedule ------===//

#include "CommandLine.h"
#include "Fail.h"
#include "dtc/Schedule/Order/NamedSchedules.h"
#include "dtc/Schedule/Order/ScheduleFile.h"
#include "dtc/Training/Compressors.h"
#include "dtc/Training/Synchronization.h"
#include <cmath>

using namespace mlir;
using namespace dtc;

/// The limit of ranks. A larger plan is a mistake.
static constexpr uint64_t maxRanks = 1 << 16;
static constexpr int64_t maxTasks = 1 << 20;

/// Plans two replicas, whose code is valid for any number.
static void openReplicas(ParallelOptions &plan) {
  if (plan.dp != autoCount)
    return;
  plan.replicasAtLaunch = true;
  plan.dp = 2 * plan.hsdp;
}

static LogicalResult checkRanks(const ParallelOptions &plan) {
  if (plan.getNumRanks() > maxRanks)
    return fail("--dp " + Twine(plan.dp) + " x --pp " + Twine(plan.pp) +
                " x --tp " + Twine(plan.tp) + " are more ranks than the " +
                Twine(maxRanks) + " that dtc plans for");
  if (plan.replicasAtLaunch && plan.zero > 0 && plan.hsdp == 1)
    return fail("--zero " + Twine(plan.zero) +
                " splits over dp, but --dp auto leaves open how many ranks "
                "that is; use --hsdp N, the ranks of a group that it splits "
                "over, or --dp N");
  return success();
}

static LogicalResult checkZero(const ParallelOptions &plan) {
  if (isGiven("gather") && plan.zero != 3)
    return fail("--gather is for parameters that are gathered where they are "
                "used; use it with --zero 3");
  if (plan.hsdp > 1 && plan.zero == 0)
    return fail("--hsdp is for what ZeRO splits; use it with --zero 1, 2 or 3");
  return success();
}

/// Experts are divided among ranks of dp.
static LogicalResult finishExperts(const Strategy &strategy,
                                   ParallelOptions &plan) {
  if (plan.ep == 1)
    return isGiven("expert-capacity")
               ? fail("--expert-capacity is for rows that go to experts on "
                      "other ranks; use it with --ep 2 or more")
               : success();
  if (!isGiven("dp"))
    plan.dp = plan.ep;
  std::string given = "--ep " + std::to_string(plan.ep);
  if (plan.replicasAtLaunch)
    return fail(given + " plans for the rows of each replica, but --dp auto "
                        "leaves their number open; use --dp N");
  if (plan.dp % plan.ep)
    return fail(given + " divides experts among ranks of --dp, which is " +
                Twine(plan.dp) + "; expected a divisor of it");
  if (plan.hsdp > 1)
    return fail(given +
                " and --hsdp both divide the ranks of --dp into groups, "
                "which dtc does not combine yet; leave one of them "
                "out");
  if (plan.compress != "none" || plan.sync != "step")
    return fail(given +
                " sums gradients of experts over fewer ranks than others, "
                "which " +
                (plan.compress != "none" ? "--compress " + plan.compress
                                         : "--sync " + plan.sync) +
                " does not support yet; leave one of them out");
  if (strategy.target.kind == "cuda")
    return fail(given + " needs products by chosen matrices, which GPUs do not "
                        "compute yet; use --target cpu");
  if (plan.expertCapacity &&
      !(std::isfinite(*plan.expertCapacity) && *plan.expertCapacity > 0))
    return fail("--expert-capacity is " + std::to_string(*plan.expertCapacity) +
                ", expected a number above 0, such as 1.25: a multiple of the "
                "mean of an expert's rows");
  return success();
}

static LogicalResult checkCompression(const Strategy &strategy) {
  const ParallelOptions &plan = strategy.parallel;
  llvm::Expected<std::optional<Compressor>> parsed =
      Compressor::parse(plan.compress);
  if (!parsed)
    return fail(llvm::toString(parsed.takeError()));
  if (!*parsed && isGiven("error-feedback"))
    return fail("--error-feedback is for errors of compressed gradients; use "
                "it with --compress");
  if (!*parsed)
    return success();
  std::string given = "--compress " + plan.compress;
  llvm::Expected<ErrorFeedback> feedback =
      ErrorFeedback::parse(plan.errorFeedback);
  if (!feedback)
    return fail(llvm::toString(feedback.takeError()));
  CompressorKind kind = (*parsed)->traits->kind;
  if (feedback->kind == ErrorFeedback::Momentum &&
      kind != CompressorKind::TopK && kind != CompressorKind::RandK)
    return fail("--error-feedback " + plan.errorFeedback +
                " clears the momentum of elements that are sent, but " + given +
                " sends all; use it with topk or randk");
  const TrainingOptions &training = strategy.training;
  if (feedback->kind == ErrorFeedback::Momentum &&
      (training.optimizer != "sgd" || training.momentum.value_or(0) != 0))
    return fail("--error-feedback " + plan.errorFeedback +
                " has the momentum of sgd, but --optimizer is '" +
                training.optimizer + "'" +
                (training.momentum.value_or(0) != 0 ? " with --momentum" : "") +
                "; use --optimizer sgd without --momentum");
  if (strategy.target.kind == "cuda" && !(*parsed)->traits->hasBlocks())
    return fail(given + " needs a selection or orthonormal columns, which GPUs "
                        "do not compute yet; use sign, int8, int4 or qsgd, or "
                        "--target cpu");
  if (plan.replicasAtLaunch)
    return fail(given + " plans for the codes of each replica, but --dp auto "
                        "leaves their number open; use --dp N");
  if (plan.dp == 1)
    return fail(given + " is for gradients that ranks exchange over dp, which "
                        "has 1 rank; use --dp 2 or more");
  if (plan.hsdp > 1 && kind == CompressorKind::PowerSgd)
    return fail(given + " factors matrices, but groups of --hsdp exchange "
                        "shards, which are none; use another --compress or "
                        "--hsdp 1");
  if (plan.hsdp == plan.dp)
    return fail(given + " is for gradients that groups of --hsdp exchange, but "
                        "there is 1 group; use a smaller --hsdp");
  return success();
}

/// Sums of codes, and of delayed gradients, are made in their own type.
static LogicalResult checkReduceType(const ParallelOptions &plan) {
  bool isExact = plan.compress == "none" &&
                 getSynchronization(plan).kind == Synchronization::Step;
  if (isExact || plan.reduceDtype == "fp32")
    return success();
  return fail("--reduce-dtype " + plan.reduceDtype +
              " is for sums of whole gradients at the end of a step; leave it "
              "out with " +
              (plan.compress == "none" ? "--sync " + plan.sync
                                       : "--compress " + plan.compress));
}

/// Workers train parameters of their own, so no rank may need what others have.
static LogicalResult checkWorkers(const Strategy &strategy,
                                  const std::string &given) {
  const ParallelOptions &plan = strategy.parallel;
  if (plan.compress != "none")
    return fail(given + " exchanges no gradients that --compress " +
                plan.compress + " could encode; leave one of them out");
  if (strategy.training.reduction == "sum")
    return fail(given + " lets each replica compute the loss of its share of "
                        "the batch, but --loss-reduction sum adds up over all "
                        "of it; use --loss-reduction mean");
  if (plan.zero > 0 && plan.hsdp == 1)
    return fail(given +
                " gives each replica parameters of its own, but --zero " +
                Twine(plan.zero) +
                " divides one copy of them over dp, so no rank has all; use "
                "--hsdp N for replicas of N ranks that --zero divides over, or "
                "--zero 0");
  if (strategy.training.precision == "fp16" || strategy.training.skipNonFinite)
    return fail(given + " lets replicas step apart, but with " +
                (strategy.training.skipNonFinite ? "--skip-nonfinite"
                                                 : "--precision fp16") +
                " some would skip a step that others take; use --precision "
                "bf16 or fp32, without --skip-nonfinite");
  return success();
}

static LogicalResult checkSync(const Strategy &strategy) {
  const ParallelOptions &plan = strategy.parallel;
  llvm::Expected<Synchronization> sync = Synchronization::parse(plan.sync);
  if (!sync)
    return fail(llvm::toString(sync.takeError()));
  if (sync->kind == Synchronization::Step)
    return success();
  std::string given = "--sync " + plan.sync;
  if (plan.replicasAtLaunch)
    return fail(given + " plans for each replica, but --dp auto leaves their "
                        "number open; use --dp N");
  if (sync->hasServer() && plan.dp == plan.hsdp)
    return fail(given +
                " takes the first replica as the server of the others, "
                "but there is 1 replica; use " +
                (plan.hsdp == 1 ? "--dp 2 or more" : "a smaller --hsdp"));
  if (sync->hasServer() && strategy.target.kind == "cuda")
    return fail(given + " waits for whichever replica is first, which NCCL "
                        "cannot; use it with --target cpu");
  if (sync->hasWorkers())
    return checkWorkers(strategy, given);
  if (plan.dp == plan.hsdp)
    return fail(given +
                " delays gradients that ranks exchange over dp, which "
                "has " +
                (plan.dp == 1 ? "1 rank; use --dp 2 or more"
                              : "1 group; use a smaller "
                                "--hsdp"));
  return success();
}

static LogicalResult checkOffload(const Strategy &strategy) {
  const std::string &offload = strategy.schedule.offload;
  if (offload != "none" && strategy.target.kind != "cuda")
    return fail("--offload moves what a GPU holds to the host, but --target is "
                "'" +
                strategy.target.kind + "'; use it with --target cuda");
  if (offload == "parameters" && strategy.parallel.zero == 0)
    return fail("--offload parameters is for what --zero splits; use it with "
                "--zero 3, also on one rank");
  return success();
}

/// Reads a schedule file before the model, which may take long.
static LogicalResult checkSchedule(const ParallelOptions &plan,
                                   const ScheduleOptions &schedule) {
  StringRef name = schedule.schedule;
  if (!isNamedSchedule(name) && !isScheduleFile(name))
    return fail("--schedule is '" + name + "', expected " + scheduleNames +
                " or a file");
  if (schedule.virtualStages > 1 && plan.pp == 1)
    return fail("--virtual-stages " + Twine(schedule.virtualStages) +
                " is for a pipeline; use --pp 2 or more");
  // No overflow: none of the factors is above `maxCount`.
  if (plan.microbatches * schedule.virtualStages > maxTasks / plan.pp)
    return fail("--pp " + Twine(plan.pp) + " x --virtual-stages " +
                Twine(schedule.virtualStages) + " x --microbatches " +
                Twine(plan.microbatches) + " are more tasks than the " +
                Twine(maxTasks) + " that dtc plans");
  Pipeline pipeline{plan.pp, plan.microbatches};
  pipeline.numChunks = schedule.virtualStages;
  llvm::Expected<PipelineSchedule> tasks = getSchedule(name, pipeline);
  return tasks ? success() : fail(llvm::toString(tasks.takeError()));
}

/// Workers compute with their share of the batch.
static LogicalResult shareBatch(CompileOptions &options) {
  int64_t workers = countWorkers(options.parallel);
  std::optional<int64_t> &batch = options.import.batch;
  if (!batch || workers == 1)
    return success();
  if (*batch % workers)
    return fail("--batch " + Twine(*batch) + " does not divide among the " +
                Twine(workers) + " replicas that train apart (--sync " +
                options.parallel.sync + "); use a multiple of " +
                Twine(workers));
  *batch /= workers;
  return success();
}

LogicalResult dtc::finishPlan(DriverOptions &options) {
  ParallelOptions &plan = options.compile.parallel;
  openReplicas(plan);
  if (failed(finishExperts(options.compile, plan)) ||
      failed(checkRanks(plan)) || failed(checkZero(plan)) ||
      failed(checkSync(options.compile)) ||
      failed(checkCompression(options.compile)) ||
      failed(checkReduceType(plan)) || failed(checkOffload(options.compile)) ||
      failed(shareBatch(options.compile)))
    return failure();
  if (!plan.layouts.empty() && plan.tp == 1)
    return fail("--layout '" + plan.layouts.front() +
                "' says what tensor parallelism splits, but --tp is 1; use "
                "--tp 2 or more, or leave it out");
  return checkSchedule(plan, options.compile.schedule);
}
