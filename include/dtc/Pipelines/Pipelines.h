//===- Pipelines.h - the compiler as a list of phases -----------*- C++ -*-===//
//
// What is asked of a plan is an attribute of the module (Strategy.h); one
// function per phase adds its passes in order.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_PIPELINES_PIPELINES_H
#define DTC_PIPELINES_PIPELINES_H

#include "dtc/Frontend/Import.h"
#include "dtc/Lowering/Target.h"
#include "dtc/Options/Strategy.h"
#include "mlir/Pass/PassManager.h"

namespace dtc {

/// The phases, in order of execution. Drives --stop-after, --emit, --dump-dir.
enum class CompilePhase {
  Import,
  Strategy,
  Training,
  Parallel,
  Schedule,
  Lower,
  Link
};

/// All of them; those that make the plans of a module that is imported; these
/// and the one that lowers them.
constexpr CompilePhase allPhases[] = {
    CompilePhase::Import,   CompilePhase::Strategy, CompilePhase::Training,
    CompilePhase::Parallel, CompilePhase::Schedule, CompilePhase::Lower,
    CompilePhase::Link};
constexpr CompilePhase planPhases[] = {
    CompilePhase::Strategy, CompilePhase::Training, CompilePhase::Parallel,
    CompilePhase::Schedule};
constexpr CompilePhase loweringPhases[] = {
    CompilePhase::Strategy, CompilePhase::Training, CompilePhase::Parallel,
    CompilePhase::Schedule, CompilePhase::Lower};

/// "import", "strategy", ...
llvm::StringRef getPhaseName(CompilePhase phase);

struct CompileOptions : Strategy {
  ImportOptions import;
};

/// What a program computes in, for people and profiles: f64, f32, bf16, fp16.
std::string getNumbers(const CompileOptions &options);

/// Registers the dialect and all external models of interfaces.
void registerDialects(mlir::DialectRegistry &registry);

/// Registers every pass, and every phase that has passes as one
/// (`dtc-strategy-phase`, ...), for dtc-opt.
void registerPasses();

/// Runs the passes of one phase (import and link have none), as the module's
/// strategy says. The module is verified at its end, not after each pass: a
/// large plan is millions of operands, and dtc-opt looks after each.
mlir::LogicalResult runPhase(CompilePhase phase, mlir::ModuleOp module);

/// Plans a copy of a model, as imported, by another strategy, and prints no
/// diagnostics: the bytes of the rank that needs most, or none if there is no
/// such plan.
std::optional<int64_t> getPlannedBytes(mlir::ModuleOp model,
                                       const Strategy &strategy);

/// Computes, in one model that is imported for several numbers of replicas, at
/// least three, the floating point constants that count the batch from how many
/// there are at launch: those that lie on a line, or whose inverses do. Fails
/// with a diagnostic on others that differ.
mlir::LogicalResult openCounts(llvm::ArrayRef<mlir::ModuleOp> models,
                               llvm::ArrayRef<int64_t> replicas);

/// Proves that a lowered module, of a plan of two replicas, is right for any
/// number of them: `more`, the module as imported and with the strategy for
/// three, which is lowered here, becomes the same code. Fails with a diagnostic
/// that names the node where it does not.
mlir::LogicalResult proveReplicas(mlir::ModuleOp lowered, mlir::ModuleOp more);

void buildStrategyPipeline(mlir::OpPassManager &manager,
                           const Strategy &strategy);
void buildTrainingPipeline(mlir::OpPassManager &manager,
                           const Strategy &strategy);
void buildParallelPipeline(mlir::OpPassManager &manager,
                           const Strategy &strategy);
void buildSchedulePipeline(mlir::OpPassManager &manager,
                           const Strategy &strategy);
void buildLowerPipeline(mlir::OpPassManager &manager,
                        std::shared_ptr<const Target> target);

} // namespace dtc

#endif // DTC_PIPELINES_PIPELINES_H
