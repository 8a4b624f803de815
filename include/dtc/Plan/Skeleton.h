//===- Skeleton.h - what a plan is made of, before its order ----*- C++ -*-===//
//
// Between SplitStages and ScheduleMicrobatches a stage is a module with one
// function for each phase and a declaration of `@plan`. Values are numbers of
// the step's values:
//
// * each function says in `dtc.phase` which phase it is;
// * each argument and result of the functions and of `@plan` has
//   `dtc.value = N`; a function's argument that is an accumulator, or is
//   otherwise overwritten, has `dtc.update = I` too;
// * `@plan` lists what crosses stages in `dtc.sends` and `dtc.recvs`.
//
// An evaluation has modules of its own, of the same make.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_PLAN_SKELETON_H
#define DTC_PLAN_SKELETON_H

#include "dtc/Dialect/Dialect.h"
#include "dtc/Runtime/ABI.h"
#include "dtc/Support/Axes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dtc {

namespace attr {
/// Function of a stage, entry of sends or recvs: `#dtc.phase`.
constexpr llvm::StringLiteral phase = "dtc.phase";
/// Argument or result, all_reduce over stages: the number of the step's value
/// that it is.
constexpr llvm::StringLiteral value = "dtc.value";
/// Plan: array of messages {value, stage, channel, phase, type, source}, the
/// last one a location, if known.
constexpr llvm::StringLiteral sends = "dtc.sends";
constexpr llvm::StringLiteral recvs = "dtc.recvs";
/// Plan of an evaluation: array with the model's output, if it is recorded:
/// {value, phase, type}, the type that of the whole batch, and the attributes
/// that it has as a result of the step.
constexpr llvm::StringLiteral records = "dtc.records";
/// Collective: it starts here, and a wait for one of its results ends it. Of
/// gathers and scatters those along the first dimension that is not 1.
constexpr llvm::StringLiteral async = "dtc.async";
/// Plan: the schedule that it follows, as it was asked for.
constexpr llvm::StringLiteral schedule = "dtc.schedule";
/// Plan: how many times it runs its schedule, if more than once.
constexpr llvm::StringLiteral rounds = "dtc.rounds";
/// Plan: how many virtual stages the stage has, if more than one.
constexpr llvm::StringLiteral virtualStages = "dtc.virtual_stages";
/// Module of a stage: its plan is that of an evaluation.
constexpr llvm::StringLiteral eval = "dtc.eval";
} // namespace attr

/// Slots of collectives that are in flight, beside those of messages.
constexpr int64_t firstCollectiveSlot = DTC_MAX_MESSAGE_SLOTS;
constexpr int64_t endCollectiveSlot =
    DTC_MAX_MESSAGE_SLOTS + DTC_MAX_COLLECTIVE_SLOTS;

/// The first two are for what starts and ends in one function: a parameter's
/// gather and one other collective. What one function starts and another, or
/// the plan, awaits has the others.
constexpr int64_t firstPlanSlot = firstCollectiveSlot + 2;
constexpr size_t numPlanSlots = endCollectiveSlot - firstPlanSlot;

/// The symbol of a stage's plan.
constexpr llvm::StringLiteral planName = "plan";

/// The module of all stages' kernels.
constexpr llvm::StringLiteral kernelsName = "kernels";

/// The module of a stage, or of its part of an evaluation.
inline std::string getStageName(int64_t stage, bool isEval = false) {
  return (isEval ? "eval" : "stage") + std::to_string(stage);
}

/// The function that a run calls.
mlir::func::FuncOp getCallee(RunOp run);

/// The phase of a function, or of the function that a run calls; none if it is
/// a plan or a kernel.
std::optional<Phase> getPhase(mlir::func::FuncOp function);
std::optional<Phase> getPhase(RunOp run);

/// Makes a function that of a phase, and names it so.
void setPhase(mlir::func::FuncOp function, Phase phase);

/// The function of a phase of a stage; null if there is none.
mlir::func::FuncOp findFunction(mlir::ModuleOp stage, Phase phase);

/// Whether the function that a run calls is of a kind of phase.
bool isRunOf(RunOp run, Phase::Kind kind);

/// Whether an op only starts a transfer, which a wait ends: a message, or a
/// collective with `dtc.async`.
bool isStart(mlir::Operation *op);

/// A collective starts, and the wait for what it makes comes before an op.
void start(mlir::Operation *collective);
void waitBefore(mlir::Operation *op, mlir::Value value,
                mlir::Location location);

/// Modules of stages, by number.
using Stages = llvm::SmallVector<mlir::ModuleOp>;

/// Those of the training step. Fails if numbers are not 0, 1, 2, ...
mlir::FailureOr<Stages> getStages(mlir::ModuleOp module);

/// Those of the training step, then those of the evaluation if there is one.
mlir::FailureOr<llvm::SmallVector<Stages>> getPrograms(mlir::ModuleOp module);

/// The mesh of a function's types; null if they have none.
MeshAttr getMesh(mlir::func::FuncOp function);

/// The argument with `dtc.gathered_at_use` that an op gathers, cast or not: it
/// is done in each function that uses the parameter, right before, and never
/// kept. Null for other ops.
mlir::BlockArgument getGatheredParameter(mlir::Operation *op);
bool isParameterGather(mlir::Operation *op);

/// Whether a collective is over stages, which have programs of their own.
bool crossesStages(mlir::Operation *collective);

/// The schedule that a plan follows, `dtc.schedule`; empty if it has no body.
llvm::StringRef getScheduleName(mlir::func::FuncOp plan);

/// How many times a plan runs its schedule; `dtc.rounds`.
int64_t getRounds(mlir::func::FuncOp plan);

/// How many virtual stages the stage of a plan has; `dtc.virtual_stages`.
int64_t getNumChunks(mlir::func::FuncOp plan);

/// The plan of a stage; null, with a diagnostic, if there is none.
mlir::func::FuncOp getPlan(mlir::ModuleOp stage);

/// The plans of stages, in order. Fails if one has no body yet.
mlir::FailureOr<llvm::SmallVector<mlir::func::FuncOp>>
getScheduledPlans(llvm::ArrayRef<mlir::ModuleOp> stages);

} // namespace dtc

#endif // DTC_PLAN_SKELETON_H
