//===- Skeleton.cpp - find the parts of a staged module -------------------===//
//
// Lookups shared by the passes that run after SplitStages.
//
//===----------------------------------------------------------------------===//

#include "dtc/Plan/Skeleton.h"
#include "dtc/Dialect/FindFunction.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace dtc;

StringRef dtc::getProgram(ModuleOp stage) {
  auto name = stage->getAttrOfType<StringAttr>(attr::program);
  return name ? name.getValue() : StringRef();
}

bool dtc::isOfStep(ModuleOp stage) { return getProgram(stage).empty(); }

bool dtc::isOfEvaluation(ModuleOp stage) {
  return getProgram(stage) == evalName;
}

bool dtc::hasServer(ModuleOp module) {
  return llvm::any_of(module.getOps<ModuleOp>(), [](ModuleOp stage) {
    return getProgram(stage) == applyName;
  });
}

std::string dtc::getStageName(int64_t stage, StringRef program) {
  std::string name = program.empty() ? "stage" : program.str();
  if (llvm::isDigit(name.back()))
    name += '.';
  return name + std::to_string(stage);
}

/// The stages of each program, in the order in which programs appear.
static FailureOr<llvm::MapVector<StringRef, Stages>>
collectPrograms(ModuleOp module) {
  llvm::MapVector<StringRef, Stages> programs;
  for (ModuleOp stage : module.getOps<ModuleOp>()) {
    auto number = stage->getAttrOfType<IntegerAttr>(attr::stage);
    if (!number)
      continue;
    Stages &stages = programs[getProgram(stage)];
    if (number.getInt() != static_cast<int64_t>(stages.size())) {
      stage.emitError("is stage ")
          << number.getInt() << ", expected stage " << stages.size() << " here";
      return failure();
    }
    stages.push_back(stage);
  }
  return programs;
}

/// The stages of the training step.
static FailureOr<Stages>
takeStep(ModuleOp module,
         const FailureOr<llvm::MapVector<StringRef, Stages>> &programs) {
  if (failed(programs))
    return failure();
  Stages stages = programs->lookup("");
  if (stages.empty())
    return module.emitError("has no module with '") << attr::stage << "'";
  return stages;
}

FailureOr<Stages> dtc::getStages(ModuleOp module) {
  return takeStep(module, collectPrograms(module));
}

FailureOr<SmallVector<Stages>> dtc::getPrograms(ModuleOp module) {
  auto programs = collectPrograms(module);
  FailureOr<Stages> step = takeStep(module, programs);
  if (failed(step))
    return failure();
  SmallVector<Stages> list = {*step};
  for (auto &[name, stages] : *programs) {
    if (name.empty())
      continue;
    if (stages.size() != step->size())
      return module.emitError("has ")
             << stages.size() << " stages of program '" << name
             << "', expected " << step->size() << ", as the training step has";
    list.push_back(stages);
  }
  return list;
}

MeshAttr dtc::getMesh(func::FuncOp function) {
  FunctionType type = function.getFunctionType();
  for (Type value :
       llvm::concat<const Type>(type.getInputs(), type.getResults()))
    if (LayoutAttr layout = getLayout(value))
      return layout.getMesh();
  return {};
}

BlockArgument dtc::getGatheredParameter(Operation *op) {
  auto gather = dyn_cast<AllGatherOp>(op);
  Value part = gather ? gather.getX() : Value();
  if (auto cast = part ? part.getDefiningOp<CastOp>() : CastOp())
    part = cast.getX();
  auto argument = dyn_cast_or_null<BlockArgument>(part);
  auto function =
      argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp())
               : func::FuncOp();
  bool isGathered = function && function.getArgAttr(argument.getArgNumber(),
                                                    attr::gatheredAtUse);
  return isGathered ? argument : BlockArgument();
}

bool dtc::isParameterGather(Operation *op) {
  return bool(getGatheredParameter(op));
}

bool dtc::crossesStages(Operation *op) {
  return cast<CollectiveOpInterface>(op).spans(stageAxis);
}

func::FuncOp dtc::getCallee(RunOp run) {
  return cast<func::FuncOp>(run.getFunction());
}

std::optional<Phase> dtc::getPhase(func::FuncOp function) {
  auto phase = function->getAttrOfType<PhaseAttr>(attr::phase);
  return phase ? std::optional(phase.getPhase()) : std::nullopt;
}

std::optional<Phase> dtc::getPhase(RunOp run) {
  auto function =
      dyn_cast_or_null<func::FuncOp>(run.getFunction().getOperation());
  return function ? getPhase(function) : std::nullopt;
}

void dtc::setPhase(func::FuncOp function, Phase phase) {
  function->setAttr(attr::phase, PhaseAttr::get(function.getContext(), phase));
  function.setName(phase.getName());
}

func::FuncOp dtc::findFunction(ModuleOp stage, Phase phase) {
  for (auto function : stage.getOps<func::FuncOp>())
    if (getPhase(function) == phase)
      return function;
  return {};
}

bool dtc::isRunOf(RunOp run, Phase::Kind kind) {
  std::optional<Phase> phase = getPhase(run);
  return phase && phase->kind == kind;
}

bool dtc::isStart(Operation *op) {
  return isa<SendOp, RecvOp>(op) || op->hasAttr(attr::async);
}

void dtc::start(Operation *collective) {
  assert(!isStart(collective) && "starts once");
  collective->setAttr(attr::async, UnitAttr::get(collective->getContext()));
}

void dtc::waitBefore(Operation *op, Value value, Location location) {
  OpBuilder builder(op);
  WaitOp::create(builder, location, value);
}

StringRef dtc::getScheduleName(func::FuncOp plan) {
  auto schedule = plan->getAttrOfType<StringAttr>(attr::schedule);
  return schedule ? schedule.getValue() : StringRef();
}

int64_t dtc::getRounds(func::FuncOp plan) {
  auto rounds = plan->getAttrOfType<IntegerAttr>(attr::rounds);
  return rounds ? rounds.getInt() : 1;
}

int64_t dtc::getNumChunks(func::FuncOp plan) {
  auto chunks = plan->getAttrOfType<IntegerAttr>(attr::virtualStages);
  return chunks ? chunks.getInt() : 1;
}

func::FuncOp dtc::getPlan(ModuleOp stage) {
  auto plan = stage.lookupSymbol<func::FuncOp>(planName);
  if (!plan)
    stage.emitError("has no function '@") << planName << "'";
  return plan;
}

FailureOr<SmallVector<func::FuncOp>>
dtc::getScheduledPlans(ArrayRef<ModuleOp> stages) {
  SmallVector<func::FuncOp> plans;
  for (ModuleOp stage : stages) {
    plans.push_back(getPlan(stage));
    if (!plans.back())
      return failure();
    if (plans.back().isExternal())
      return plans.back().emitError(
          "has no body; schedule micro-batches first");
  }
  return plans;
}
