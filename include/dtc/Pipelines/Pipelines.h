//===- Pipelines.h - the compiler as a list of phases -----------*- C++ -*-===//
//
// The options of a compilation are an attribute of the module (Strategy.h). One
// function for each phase adds its passes in order.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_PIPELINES_PIPELINES_H
#define DTC_PIPELINES_PIPELINES_H

#include "dtc/Frontend/Import.h"
#include "dtc/Lowering/Target.h"
#include "dtc/Options/Strategy.h"
#include "mlir/Pass/PassManager.h"

namespace dtc {

/// The phases, in order of execution. --stop-after, --emit and --dump-dir use
/// their names.
enum class CompilePhase {
  Import,
  Strategy,
  Training,
  Parallel,
  Schedule,
  Lower,
  Link
};

/// All phases; the phases that turn an imported module into plans; and the same
/// with the phase that lowers plans.
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

/// The name of a phase on the command line, such as "import" or "strategy".
llvm::StringRef getPhaseName(CompilePhase phase);

struct CompileOptions : Strategy {
  ImportOptions import;
};

/// The number format that a program computes in, for people and profiles:
/// "f64", "f32", "bf16" or "fp16".
std::string getNumbers(const CompileOptions &options);

/// Registers the dialects, and the external models of their interfaces.
void registerDialects(mlir::DialectRegistry &registry);

/// Registers all passes for dtc-opt, and for each phase with passes one pass
/// that runs them all, such as `dtc-strategy-phase`.
void registerPasses();

/// Runs the passes of one phase by the module's strategy; import and link have
/// none. Fails with a diagnostic if a pass fails. The module is verified once,
/// after the last pass: a large plan has millions of operands. dtc-opt verifies
/// after each pass.
mlir::LogicalResult runPhase(CompilePhase phase, mlir::ModuleOp module);

/// Plans a copy of `model`, an imported module, by another strategy, and
/// returns the peak memory in bytes over all ranks. Returns none if the
/// strategy has no plan. Prints no diagnostics.
std::optional<int64_t> getPlannedBytes(mlir::ModuleOp model,
                                       const Strategy &strategy);

/// Some constants count the samples of the batch, so they depend on the number
/// of replicas. Replaces these in models[0] by ops that compute them from the
/// number of replicas at launch. `models` are imports of one model for
/// different numbers of replicas, `replicas`, at least three. A floating-point
/// constant can be computed if its values, or their inverses, are linear in the
/// number of replicas. Fails with a diagnostic on a constant that differs in
/// another way.
mlir::LogicalResult openCounts(llvm::ArrayRef<mlir::ModuleOp> models,
                               llvm::ArrayRef<int64_t> replicas);

/// Proves that the code of a module lowered for two replicas is right for any
/// number. Lowers `more`, the imported module with the strategy for three
/// replicas, and compares the code of both. Fails with a diagnostic that names
/// the ONNX node where they differ.
mlir::LogicalResult proveReplicas(mlir::ModuleOp lowered, mlir::ModuleOp more);

/// Add the passes of one phase to a pipeline for a module.
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
