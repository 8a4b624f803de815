//===- ScheduleMicrobatches.cpp - write the plan of each stage ------------===//
//
// Follows a pipeline schedule, tracks the SSA value of every number of the
// skeleton, and inserts messages before and after the phases that need or make
// them.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/SignatureEditor.h"
#include "dtc/Plan/Aliases.h"
#include "dtc/Plan/Skeleton.h"
#include "dtc/Schedule/Order/ScheduleFile.h"
#include "dtc/Schedule/Order/Simulation.h"
#include "dtc/Schedule/Passes.h"
#include <map>

namespace dtc {
#define GEN_PASS_DEF_SCHEDULEMICROBATCHES
#include "dtc/Schedule/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

/// Larger plans would take gigabytes and minutes.
constexpr int64_t maxPlanValues = 1 << 24;

namespace {

/// One entry of `dtc.sends` or `dtc.recvs`.
struct Crossing {
  int64_t value, stage, channel;
  RankedTensorType type;
  LocationAttr source;

  explicit Crossing(DictionaryAttr entry)
      : value(entry.getAs<IntegerAttr>("value").getInt()),
        stage(entry.getAs<IntegerAttr>("stage").getInt()),
        channel(entry.getAs<IntegerAttr>("channel").getInt()),
        type(cast<RankedTensorType>(entry.getAs<TypeAttr>("type").getValue())),
        source(entry.getAs<LocationAttr>("source")) {
    if (!source)
      source = UnknownLoc::get(entry.getContext());
  }
};

struct PhaseParts {
  func::FuncOp function; ///< null if the stage has only messages there
  SmallVector<Crossing> sends, recvs;
  std::optional<int64_t> recorded; ///< number of the value
};

/// A send whose buffer must not be overwritten yet.
struct PendingSend {
  Value sent; ///< in flight
  int64_t stage;
  Phase phase;
  std::optional<int64_t> microbatch;
};

class PlanBuilder {
public:
  PlanBuilder(func::FuncOp plan, ModuleOp stage, int64_t numMicrobatches,
              int64_t numRounds);
  /// Builds the plan of one stage from a schedule.
  LogicalResult build(const PipelineSchedule &schedule, int64_t stage);

private:
  void runPhase(const std::pair<const Phase, PhaseParts> &phase,
                std::optional<int64_t> microbatch);
  void receive(Phase phase, ArrayRef<Crossing> recvs,
               std::optional<int64_t> microbatch);
  void run(func::FuncOp function, std::optional<int64_t> microbatch);
  void send(Phase phase, ArrayRef<Crossing> sends,
            std::optional<int64_t> microbatch);
  bool isAnswered(const PendingSend &send) const;
  void waitForUnwritten(ArrayRef<Value> overwritten);
  void wait(llvm::function_ref<bool(const PendingSend &)> condition);

  Value get(int64_t number, std::optional<int64_t> microbatch);
  int64_t getTag(const Crossing &crossing, std::optional<int64_t> microbatch) {
    return crossing.channel * numMicrobatches + microbatch.value_or(0);
  }
  int64_t getRound(std::optional<int64_t> microbatch) {
    return *microbatch / (numMicrobatches / numRounds);
  }

  func::FuncOp plan;
  int64_t numMicrobatches, numRounds;
  /// Whether to wait for the previous send after F, and after B.
  bool awaitsForward = true, awaitsBackward = true;
  OpBuilder builder;
  std::optional<AliasClasses> classes; ///< of the part of the plan built so far
  std::map<Phase, PhaseParts> phases;
  std::map<int64_t, Value> once;
  std::map<std::pair<int64_t, int64_t>, Value> ofMicrobatch;
  SmallVector<PendingSend> pending;
};

int64_t getNumber(Attribute number) {
  return number ? cast<IntegerAttr>(number).getInt() : -1;
}

PlanBuilder::PlanBuilder(func::FuncOp plan, ModuleOp stage,
                         int64_t numMicrobatches, int64_t numRounds)
    : plan(plan), numMicrobatches(numMicrobatches), numRounds(numRounds),
      builder(plan.getContext()) {
  for (auto function : stage.getOps<func::FuncOp>())
    if (std::optional<Phase> phase = getPhase(function))
      phases[*phase].function = function;
  auto read = [&](StringRef name, SmallVector<Crossing> PhaseParts::*list) {
    if (auto entries = plan->getAttrOfType<ArrayAttr>(name))
      for (auto entry : entries.getAsRange<DictionaryAttr>())
        (phases[entry.getAs<PhaseAttr>("phase").getPhase()].*list)
            .emplace_back(entry);
    plan->removeAttr(name);
  };
  read(attr::sends, &PhaseParts::sends);
  read(attr::recvs, &PhaseParts::recvs);
  // The attribute stays, because lowering reads it.
  if (auto entries = plan->getAttrOfType<ArrayAttr>(attr::records))
    for (auto entry : entries.getAsRange<DictionaryAttr>())
      phases[entry.getAs<PhaseAttr>("phase").getPhase()].recorded =
          entry.getAs<IntegerAttr>("value").getInt();
}

Value PlanBuilder::get(int64_t number, std::optional<int64_t> microbatch) {
  if (microbatch) {
    auto it = ofMicrobatch.find({number, *microbatch});
    if (it != ofMicrobatch.end())
      return it->second;
  }
  Value value = once.at(number);
  LayoutAttr layout = getLayout(value.getType());
  if (!microbatch || !layout.isSplit(MeshAttr::timeAxis))
    return value;
  // An input: take its rows for this micro-batch.
  auto tensor = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(tensor.getShape());
  shape[0] /= numMicrobatches;
  auto type = RankedTensorType::get(shape, tensor.getElementType(),
                                    layout.without(MeshAttr::timeAxis));
  return ofMicrobatch[{number, *microbatch}] = MicrobatchOp::create(
             builder, plan.getLoc(), type, value, *microbatch);
}

void PlanBuilder::wait(
    llvm::function_ref<bool(const PendingSend &)> condition) {
  llvm::erase_if(pending, [&](const PendingSend &send) {
    if (!condition(send))
      return false;
    WaitOp::create(builder, send.sent.getLoc(), send.sent);
    return true;
  });
}

void PlanBuilder::receive(Phase phase, ArrayRef<Crossing> recvs,
                          std::optional<int64_t> microbatch) {
  for (const Crossing &recv : recvs) {
    Value value = RecvOp::create(builder, recv.source, recv.type, recv.stage,
                                 getTag(recv, microbatch));
    WaitOp::create(builder, recv.source, value);
    if (microbatch)
      ofMicrobatch[{recv.value, *microbatch}] = value;
    else
      once[recv.value] = value;
  }
  // The gradient of a micro-batch proves that its activations have arrived.
  if (phase.kind == Phase::Backward)
    wait([&](const PendingSend &send) {
      return send.phase == Phase{Phase::Forward, phase.level} &&
             send.microbatch == microbatch &&
             llvm::any_of(recvs, [&](const Crossing &recv) {
               return recv.stage == send.stage;
             });
    });
  // A round's first activation comes after all gradients of the last round.
  if (phase.kind == Phase::Forward)
    wait([&](const PendingSend &send) {
      return send.phase.kind == Phase::Backward &&
             getRound(send.microbatch) < getRound(microbatch) &&
             llvm::any_of(
                 recvs,
                 [&](const Crossing &recv) {
                   return recv.stage == send.stage;
                 });
    });
}

/// Waits for sends whose buffers the next op overwrites.
void PlanBuilder::waitForUnwritten(ArrayRef<Value> overwritten) {
  if (pending.empty() || overwritten.empty())
    return;
  classes->extend();
  llvm::DenseSet<Value> roots;
  for (Value value : overwritten)
    roots.insert(classes->getRoot(value));
  wait([&](const PendingSend &send) {
    return roots.contains(classes->getRoot(send.sent));
  });
}

void PlanBuilder::run(func::FuncOp function,
                      std::optional<int64_t> microbatch) {
  SmallVector<Value> operands, overwritten;
  SmallVector<int64_t> updatedBy(function.getNumResults(), -1);
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    int64_t number = getNumber(function.getArgAttr(i, attr::value));
    auto update = function.getArgAttrOfType<IntegerAttr>(i, attr::update);
    if (!update) {
      operands.push_back(get(number, microbatch));
      continue;
    }
    // A reduction may overwrite a value of the micro-batch.
    auto made = microbatch ? ofMicrobatch.find({number, *microbatch})
                           : ofMicrobatch.end();
    if (made != ofMicrobatch.end()) {
      operands.push_back(made->second);
      overwritten.push_back(made->second);
      continue;
    }
    updatedBy[update.getInt()] = number;
    // Create an accumulator at its first use.
    Value &value = once[number];
    if (!value)
      value = ZeroOp::create(builder, plan.getLoc(),
                             function.getArgument(i).getType());
    operands.push_back(value);
    overwritten.push_back(value);
  }
  waitForUnwritten(overwritten);
  auto call = RunOp::create(
      builder, function.getLoc(), function.getResultTypes(),
      FlatSymbolRefAttr::get(function.getNameAttr()), operands,
      microbatch ? builder.getI64IntegerAttr(*microbatch) : IntegerAttr());
  for (auto [i, result] : llvm::enumerate(call.getResults())) {
    int64_t number = getNumber(function.getResultAttr(i, attr::value));
    if (number < 0)
      continue;
    bool isOfMicrobatch = microbatch && updatedBy[i] != number;
    if (isOfMicrobatch)
      ofMicrobatch[{number, *microbatch}] = result;
    // With one micro-batch, its value is the sum over all of them.
    if (!isOfMicrobatch || numMicrobatches == 1)
      once[number] = result;
  }
}

/// Whether the receiver of a send answers with a gradient.
bool PlanBuilder::isAnswered(const PendingSend &send) const {
  auto backward = phases.find({Phase::Backward, send.phase.level});
  return send.phase.kind == Phase::Forward && backward != phases.end() &&
         llvm::any_of(backward->second.recvs, [&](const Crossing &recv) {
           return recv.stage == send.stage;
         });
}

void PlanBuilder::send(Phase phase, ArrayRef<Crossing> sends,
                       std::optional<int64_t> microbatch) {
  for (const Crossing &crossing : sends) {
    Value value = get(crossing.value, microbatch);
    Value sent = SendOp::create(builder, crossing.source, value, crossing.stage,
                                getTag(crossing, microbatch));
    pending.push_back({sent, crossing.stage, phase, microbatch});
  }
  // Before the next send, wait for the previous gradient, and for the previous
  // activation if no gradient answers it.
  if (phase.isChunked() &&
      (phase.kind == Phase::Forward ? awaitsForward : awaitsBackward))
    wait([&](const PendingSend &send) {
      return send.phase == phase && send.microbatch != microbatch &&
             !isAnswered(send) &&
             llvm::any_of(sends, [&](const Crossing &crossing) {
               return crossing.stage == send.stage;
             });
    });
}

void PlanBuilder::runPhase(const std::pair<const Phase, PhaseParts> &phase,
                           std::optional<int64_t> microbatch) {
  receive(phase.first, phase.second.recvs, microbatch);
  if (phase.second.function)
    run(phase.second.function, microbatch);
  if (phase.second.recorded) // while the value is in memory
    RecordOp::create(builder, plan.getLoc(),
                     get(*phase.second.recorded, microbatch), *microbatch);
  send(phase.first, phase.second.sends, microbatch);
}

LogicalResult PlanBuilder::build(const PipelineSchedule &schedule,
                                 int64_t stage) {
  int64_t numChunks = getNumChunks(plan);
  awaitsForward = canAwaitLast(schedule, TaskKind::F, numChunks);
  awaitsBackward = canAwaitLast(schedule, TaskKind::B, numChunks);
  Block *body = plan.addEntryBlock();
  plan.setPublic();
  builder.setInsertionPointToStart(body);
  classes.emplace(*body);
  for (BlockArgument argument : body->getArguments())
    once[getNumber(plan.getArgAttr(argument.getArgNumber(), attr::value))] =
        argument;

  auto runOnce = [&](bool before) {
    for (auto &phase : phases)
      if (phase.first.isBeforeMicrobatches() == before) {
        if (phase.first.kind == Phase::Inputs)
          for (int64_t m : llvm::seq<int64_t>(0, numMicrobatches))
            runPhase(phase, m);
        else if (!phase.first.isPerMicrobatch())
          runPhase(phase, std::nullopt);
      }
  };
  runOnce(/*before=*/true);
  for (const Task &task : schedule[stage]) {
    Phase phase{task.kind == TaskKind::F   ? Phase::Forward
                : task.kind == TaskKind::B ? Phase::Backward
                                           : Phase::Weight,
                static_cast<unsigned>(task.chunk)};
    auto it = phases.find(phase);
    if (it != phases.end())
      runPhase(*it, task.microbatch);
  }
  runOnce(/*before=*/false);
  wait([](const PendingSend &) { return true; });

  SmallVector<Value> returned;
  for (unsigned i = 0; i < plan.getNumResults(); ++i) {
    int64_t number = getNumber(plan.getResultAttr(i, attr::value));
    auto it = once.find(number);
    if (it == once.end())
      return plan.emitError("returns value ")
             << number << ", which no phase of its stage makes";
    returned.push_back(it->second);
  }
  func::ReturnOp::create(builder, plan.getLoc(), returned);

  SignatureEditor signature(plan);
  for (unsigned i = 0; i < plan.getNumArguments(); ++i)
    signature.removeArg(i, attr::value);
  for (unsigned i = 0; i < plan.getNumResults(); ++i)
    signature.removeResult(i, attr::value);
  signature.write();
  annotateUpdates(plan);
  return success();
}

struct ScheduleMicrobatchesPass
    : dtc::impl::ScheduleMicrobatchesBase<ScheduleMicrobatchesPass> {
  using ScheduleMicrobatchesBase::ScheduleMicrobatchesBase;

  void runOnOperation() override {
    FailureOr<SmallVector<Stages>> programs = getPrograms(getOperation());
    if (failed(programs))
      return signalPassFailure();
    for (const Stages &stages : *programs)
      if (failed(schedulePlans(stages)))
        return signalPassFailure();
  }

  /// Checks the size of plans, which are straight-line code over all
  /// micro-batches.
  LogicalResult checkSize(const Stages &stages, int64_t numMicrobatches) {
    int64_t values = 0; // operands and results of one micro-batch's runs
    for (ModuleOp stage : stages)
      for (auto function : stage.getOps<func::FuncOp>())
        if (auto phase = getPhase(function); phase && phase->isPerMicrobatch())
          values += function.getNumArguments() + function.getNumResults();
    if (values == 0 || numMicrobatches <= maxPlanValues / values)
      return success();
    return getOperation().emitError("the plan of ")
           << numMicrobatches << " micro-batches in a step would have "
           << numMicrobatches * values
           << " operands and results, expected at most " << maxPlanValues
           << "; use larger micro-batches, at most " << maxPlanValues / values
           << " of them";
  }

  LogicalResult schedulePlans(const Stages &stages) {
    SmallVector<func::FuncOp> plans;
    for (ModuleOp stage : stages) {
      plans.push_back(getPlan(stage));
      if (!plans.back())
        return failure();
      if (!plans.back().isExternal())
        return plans.back().emitError(
            "has tasks already, expected the declaration of a plan, as "
            "SplitStages makes it");
    }
    func::FuncOp first = plans.front();
    MeshAttr mesh = getMesh(first);
    int64_t numMicrobatches = mesh ? mesh.getSize(MeshAttr::timeAxis) : 1;
    std::string name = schedule;
    int64_t numRounds = rounds;
    if (numRounds < 1 || numMicrobatches % numRounds)
      return first.emitError("has ")
             << numMicrobatches << " micro-batches, expected a multiple of "
             << numRounds << " rounds";
    Pipeline pipeline{static_cast<int64_t>(stages.size()),
                      numMicrobatches / numRounds, numRounds,
                      getNumChunks(first)};
    if (failed(checkSize(stages, numMicrobatches)))
      return failure();
    llvm::Expected<PipelineSchedule> tasks = getSchedule(name, pipeline);
    if (!tasks)
      return getOperation().emitError(llvm::toString(tasks.takeError()));
    Builder builder(&getContext());
    for (auto [number, plan] : llvm::enumerate(plans)) {
      if (failed(PlanBuilder(plan, stages[number], numMicrobatches, numRounds)
                     .build(*tasks, number)))
        return failure();
      plan->setAttr(attr::schedule, builder.getStringAttr(name));
      if (numRounds > 1)
        plan->setAttr(attr::rounds, builder.getI64IntegerAttr(numRounds));
    }
    return success();
  }
};

} // namespace
