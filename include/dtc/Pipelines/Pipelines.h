//===- Pipelines.h - the compiler as a list of phases -----------*- C++ -*-===//
//
// One options struct per phase, nested in CompileOptions; one function per
// phase that adds its passes in order.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_PIPELINES_PIPELINES_H
#define DTC_PIPELINES_PIPELINES_H

#include "dtc/Frontend/Import.h"
#include "dtc/Lowering/Target.h"
#include "dtc/Schedule/Options.h"
#include "dtc/Training/Options.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/MathExtras.h"

namespace dtc {

/// The phases, in order of execution. Drives --stop-after, --emit, --dump-dir.
enum class CompilePhase { Import, Training, Parallel, Schedule, Lower, Link };

/// "import", "training", ...
llvm::StringRef getPhaseName(CompilePhase phase);

struct ParallelOptions {
  int64_t dp = 1;   ///< ranks that share the batch
  int64_t hsdp = 1; ///< ranks of a group that ZeRO splits over, 1: all of dp
  int64_t pp = 1;   ///< pipeline stages
  int64_t tp = 1;   ///< ranks that share each split product
  int64_t zero = 0; ///< stage of ZeRO: 0 to 3
  std::string gather =
      "layer"; ///< what stage 3 gathers: layer, step, a pattern
  int64_t bucketMb =
      ScheduleOptions().bucketMb; ///< MiB of parameters that ZeRO has as one
  bool sp = false;          ///< values between split products are split too
  int64_t microbatches = 1; ///< parts that a rank's round is run in
  int64_t accumulate =
      ScheduleOptions().accumulate; ///< rounds that its batch is run in
  /// Axes of ranks, outermost first; empty: pp, dp, shard, tp.
  std::vector<std::string> order;

  uint64_t getNumRanks() const {
    return llvm::SaturatingMultiply<uint64_t>(
        llvm::SaturatingMultiply<uint64_t>(dp, pp), tp);
  }
};

struct CompileOptions {
  ImportOptions import;
  TrainingOptions training;
  ParallelOptions parallel;
  ScheduleOptions schedule;
  TargetOptions target;
};

/// What a program computes in, for people and profiles: f64, f32, bf16, fp16.
std::string getNumbers(const CompileOptions &options);

/// Registers the dialect and all external models of interfaces.
void registerDialects(mlir::DialectRegistry &registry);

/// Registers every pass, for dtc-opt.
void registerPasses();

/// Runs the passes of one phase (import and link have none). The module is
/// verified at its end, not after each pass: a large plan is millions of
/// operands, and dtc-opt looks after each.
mlir::LogicalResult runPhase(CompilePhase phase, mlir::ModuleOp module,
                             const CompileOptions &options);

/// `plan` says what a step's batch is cut into.
void buildTrainingPipeline(mlir::OpPassManager &manager,
                           const TrainingOptions &options,
                           const ParallelOptions &plan);
void buildParallelPipeline(mlir::OpPassManager &manager,
                           const ParallelOptions &options);
void buildSchedulePipeline(mlir::OpPassManager &manager,
                           const ScheduleOptions &options);
void buildLowerPipeline(mlir::OpPassManager &manager,
                        const TargetOptions &target);

} // namespace dtc

#endif // DTC_PIPELINES_PIPELINES_H
