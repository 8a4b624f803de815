//===- Skeleton.h - parts of a plan before it is scheduled ------*- C++ -*-===//
//
// Between SplitStages and ScheduleMicrobatches, a stage is a module with one
// function for each phase and a declaration of `@plan`. Values have the numbers
// of the step's values:
//
// * `dtc.phase` is the phase of a function;
// * `dtc.value = N` numbers each argument and result of the functions and of
//   `@plan`; an accumulator or other overwritten argument of a function also
//   has `dtc.update = I`;
// * `dtc.sends` and `dtc.recvs` on `@plan` list the messages between stages.
//
// An evaluation, and each program that runs between steps, has its own modules
// of the same form, with `dtc.program`.
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
/// Function of a stage, entry of sends or recvs: its phase, `#dtc.phase`.
constexpr llvm::StringLiteral phase = "dtc.phase";
/// Argument or result, all_reduce over stages: number of the step's value that
/// it holds.
constexpr llvm::StringLiteral value = "dtc.value";
/// Plan: array of messages {value, stage, channel, phase, type, source}.
/// `source` is a location, absent if unknown.
constexpr llvm::StringLiteral sends = "dtc.sends";
constexpr llvm::StringLiteral recvs = "dtc.recvs";
/// Plan of an evaluation: array with the model's output if it is recorded, as
/// {value, phase, type} and the attributes of the step's result. `type` is the
/// type of the whole batch.
constexpr llvm::StringLiteral records = "dtc.records";
/// Collective: it starts here and ends at the wait for one of its results. A
/// gather or scatter with it is along the first dimension that is not 1.
constexpr llvm::StringLiteral async = "dtc.async";
/// Plan: the schedule that the user selected.
constexpr llvm::StringLiteral schedule = "dtc.schedule";
/// Plan: number of times that it runs its schedule, if more than 1.
constexpr llvm::StringLiteral rounds = "dtc.rounds";
/// Plan: number of virtual stages of the stage, if more than 1.
constexpr llvm::StringLiteral virtualStages = "dtc.virtual_stages";
} // namespace attr

/// Slots of collectives in flight, after those of messages.
constexpr int64_t firstCollectiveSlot = DTC_MAX_MESSAGE_SLOTS;
constexpr int64_t endCollectiveSlot =
    DTC_MAX_MESSAGE_SLOTS + DTC_MAX_COLLECTIVE_SLOTS;

/// The first two slots are for transfers that start and end in one function:
/// the gather of a parameter and one other collective. The remaining slots are
/// for transfers that end in another function or in the plan.
constexpr int64_t firstPlanSlot = firstCollectiveSlot + 2;
constexpr size_t numPlanSlots = endCollectiveSlot - firstPlanSlot;

/// The symbol of a stage's plan.
constexpr llvm::StringLiteral planName = "plan";

/// The module that holds the kernels of all stages.
constexpr llvm::StringLiteral kernelsName = "kernels";

/// The name of a stage's module in a program: "stage0" in the training step,
/// else the program's name and the number of the stage.
std::string getStageName(int64_t stage, llvm::StringRef program);

/// The program that a stage's module belongs to (`dtc.program`); empty for the
/// training step.
llvm::StringRef getProgram(mlir::ModuleOp stage);
bool isOfStep(mlir::ModuleOp stage);
bool isOfEvaluation(mlir::ModuleOp stage);

/// The function that a run calls.
mlir::func::FuncOp getCallee(RunOp run);

/// The phase of a function, or of the function that a run calls; none if it is
/// a plan or a kernel.
std::optional<Phase> getPhase(mlir::func::FuncOp function);
std::optional<Phase> getPhase(RunOp run);

/// Sets the phase of a function and names the function after it.
void setPhase(mlir::func::FuncOp function, Phase phase);

/// The function of a phase of a stage; null if there is none.
mlir::func::FuncOp findFunction(mlir::ModuleOp stage, Phase phase);

/// Whether a run calls a function with a phase of this kind.
bool isRunOf(RunOp run, Phase::Kind kind);

/// Whether an op starts a transfer that a wait ends: a message, or a collective
/// with `dtc.async`.
bool isStart(mlir::Operation *op);

/// Makes a collective asynchronous. `waitBefore` inserts the wait for its
/// result before an op.
void start(mlir::Operation *collective);
void waitBefore(mlir::Operation *op, mlir::Value value,
                mlir::Location location);

/// Modules of stages, indexed by stage.
using Stages = llvm::SmallVector<mlir::ModuleOp>;

/// The stages of the training step. Fails if their numbers are not 0, 1, 2, ...
mlir::FailureOr<Stages> getStages(mlir::ModuleOp module);

/// The stages of the training step, then those of each other program.
mlir::FailureOr<llvm::SmallVector<Stages>> getPrograms(mlir::ModuleOp module);

/// Whether workers push to a server, which is the first position of their axis.
bool hasServer(mlir::ModuleOp module);

/// The mesh of a function's types; null if they have none.
MeshAttr getMesh(mlir::func::FuncOp function);

/// The argument with `dtc.gathered_at_use` that an op gathers, cast or not;
/// null for other ops. Each function gathers such a parameter right before its
/// use and does not keep the result.
mlir::BlockArgument getGatheredParameter(mlir::Operation *op);
bool isParameterGather(mlir::Operation *op);

/// Whether a collective spans stages, which run different programs.
bool crossesStages(mlir::Operation *collective);

/// The schedule of a plan (`dtc.schedule`); empty if the plan has no body.
llvm::StringRef getScheduleName(mlir::func::FuncOp plan);

/// Number of times that a plan runs its schedule (`dtc.rounds`).
int64_t getRounds(mlir::func::FuncOp plan);

/// Number of virtual stages of a plan's stage (`dtc.virtual_stages`).
int64_t getNumChunks(mlir::func::FuncOp plan);

/// The plan of a stage; null, with a diagnostic, if there is none.
mlir::func::FuncOp getPlan(mlir::ModuleOp stage);

/// The plans of stages, in order. Fails if a plan has no body yet.
mlir::FailureOr<llvm::SmallVector<mlir::func::FuncOp>>
getScheduledPlans(llvm::ArrayRef<mlir::ModuleOp> stages);

} // namespace dtc

#endif // DTC_PLAN_SKELETON_H
