//===- Report.cpp - the figures of a plan ---------------------------------===//
//
// Walks every plan in order of execution and counts.
//
//===----------------------------------------------------------------------===//

#include "Costs/HostTraffic.h"
#include "Costs/OpCost.h"
#include "ReportParts.h"
#include "dtc/Memory/MemoryPlan.h"
#include "dtc/Memory/MemoryPlanner.h"
#include "dtc/Plan/Gathered.h"
#include "dtc/Plan/Skeleton.h"
#include "dtc/Schedule/Order/NamedSchedules.h"
#include "dtc/Schedule/Order/ScheduleFile.h"
#include "dtc/Schedule/Order/Simulation.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace dtc;

//===----------------------------------------------------------------------===//
// Counting
//===----------------------------------------------------------------------===//

CollectiveClass CollectiveClass::get(CollectiveOpInterface op) {
  CollectiveClass own{op.getCollectiveKind(), {}};
  for (StringRef axis : op.getAxes().getAsValueRange<StringAttr>())
    own.axes.push_back(axis.str());
  return own;
}

std::string CollectiveClass::getName() const {
  return getTraits(kind).name + (" " + llvm::join(axes, ","));
}

void dtc::addTraffic(Operation &op, int64_t times, StageReport &report) {
  auto add = [&](Traffic &traffic, int64_t bytes) {
    traffic.count += times;
    traffic.bytes += times * bytes;
  };
  if (auto send = dyn_cast<SendOp>(op))
    add(report.sends[send.getStage()], getLocalBytes(send.getX().getType()));
  else if (auto recv = dyn_cast<RecvOp>(op))
    add(report.recvs[recv.getStage()], getLocalBytes(recv.getType()));
  else if (auto collective = dyn_cast<CollectiveOpInterface>(op)) {
    add(report.collectives[CollectiveClass::get(collective)],
        getWholeBytes(collective));
  }
}

/// Adds the traffic of a function and of those that it runs.
static void addAllTraffic(func::FuncOp function, int64_t times,
                          StageReport &report) {
  llvm::MapVector<Operation *, int64_t> runs;
  for (Operation &op : function.front()) {
    if (auto run = dyn_cast<RunOp>(op))
      runs[getCallee(run)] += times;
    else
      addTraffic(op, times, report);
  }
  for (auto [callee, count] : runs)
    addAllTraffic(cast<func::FuncOp>(callee), count, report);
}

/// Running statistics are not counted as parameters.
static bool isStatistic(func::FuncOp plan, unsigned argument) {
  return bool(plan.getArgAttr(argument, attr::statistic));
}

static void addMemory(func::FuncOp plan, StageReport &report) {
  for (BlockArgument argument : plan.getArguments()) {
    int64_t bytes = alignMemory(getLocalBytes(argument.getType()));
    unsigned number = argument.getArgNumber();
    bool isParameter = bool(plan.getArgAttr(number, attr::parameter));
    if (isParameter && !isStatistic(plan, number))
      report.parameters += getLocalType(argument.getType()).getNumElements();
    if (isInHostMemory(*getPlannedOffset(argument))) {
      report.hostBytes += bytes;
    } else if (isParameter) {
      report.parameterBytes += bytes;
    } else if (plan.getArgAttr(number, attr::transient)) {
      report.pushedBytes += getLocalBytes(argument.getType());
      report.gradientBytes += bytes;
    } else if (plan.getArgAttr(number, attr::state)) {
      report.stateBytes += bytes;
    } else {
      report.inputBytes += bytes;
    }
  }
  // Gradients are results. If ZeRO splits a gradient, its accumulator is
  // counted, which is whole in ZeRO stage 1.
  bool isSplit = false;
  for (auto [i, type] : llvm::enumerate(plan.getResultTypes()))
    if (plan.getResultAttr(i, attr::gradient)) {
      report.gradientBytes += alignMemory(getLocalBytes(type));
      isSplit |= bool(plan.getResultAttr(i, attr::members));
    }
  if (isSplit) {
    report.gradientBytes = 0;
    for (auto zero : plan.getOps<ZeroOp>())
      if (zero.getType().getRank() > 0)
        report.gradientBytes += alignMemory(getLocalBytes(zero.getType()));
  }
  // Count parameters that a step gathers and keeps. If a shard is released for
  // the gathered parameter, the memory counts once.
  llvm::DenseSet<Value> released;
  for (auto [value, argument] :
       getReplacedArguments(plan, AliasClasses(plan.front())))
    if (getPlannedOffset(value) == getPlannedOffset(argument))
      released.insert(argument);
  for (const Gathered &gathered : getGathered(plan)) {
    report.gatheredBytes +=
        alignMemory(getLocalBytes(gathered.whole.getType()));
    if (released.contains(gathered.part))
      report.gatheredBytes -=
          alignMemory(getLocalBytes(gathered.part.getType()));
  }
  report.peakBytes =
      plan->getAttrOfType<IntegerAttr>(attr::arenaBytes).getInt();
  report.activationBytes = report.peakBytes - report.parameterBytes -
                           report.stateBytes - report.gradientBytes -
                           report.inputBytes - report.gatheredBytes;
  HostTraffic::Bytes moved = HostTraffic(plan).count(plan);
  report.hostReadBytes = moved.read;
  report.hostWrittenBytes = moved.written;
}

/// Adds the elements of a parameter in the model, and its padding.
static void addParameter(Type type, DictionaryAttr part, Report &report) {
  ArrayRef<int64_t> shape = cast<ShapedType>(type).getShape();
  int64_t elements = 1;
  for (auto [dim, size] : llvm::enumerate(shape)) {
    int64_t own = size;
    if (part) {
      int64_t whole = part.getAs<DenseI64ArrayAttr>("shape")[dim];
      if (part.getAs<IntegerAttr>("dim").getInt() == int64_t(dim))
        whole -= part.getAs<IntegerAttr>("start").getInt();
      own = std::min(size, whole);
    }
    elements *= own;
    if (own != size)
      report.padded.push_back(
          {part.getAs<StringAttr>("tensor").str(), int64_t(dim), own, size});
  }
  report.parameters += elements;
}

/// Adds the parameters that an argument of a plan is, or has as members.
static void addParameters(DictionaryAttr attributes, Type type,
                          Report &report) {
  auto members = attributes.getAs<ArrayAttr>(attr::members);
  if (!members)
    return addParameter(type, attributes.getAs<DictionaryAttr>(attr::part),
                        report);
  for (auto member : members.getAsRange<DictionaryAttr>())
    addParameter(member.getAs<TypeAttr>("type").getValue(),
                 member.getAs<DictionaryAttr>("part"), report);
}

/// Counts samples. The type of a data input has all rows of a step.
static void countSamples(func::FuncOp plan, Report &report) {
  auto stage = plan->getParentOfType<ModuleOp>();
  bool isServed = hasServer(stage->getParentOfType<ModuleOp>());
  for (BlockArgument argument : plan.getArguments()) {
    auto kind =
        plan.getArgAttrOfType<StringAttr>(argument.getArgNumber(), attr::kind);
    auto type = cast<RankedTensorType>(argument.getType());
    if (!kind || (kind != "input" && kind != "label") || type.getRank() == 0)
      continue;
    report.samples = type.getDimSize(0) * countCopies(type, isServed);
    // Must match Program::tokensPerSample of the runtime.
    if (type.getRank() != 2 || !type.getElementType().isInteger())
      continue;
    if (kind == "label" ||
        (report.tokens == 0 &&
         plan.getArgAttr(argument.getArgNumber(), attr::bound)))
      report.tokens = type.getNumElements() * countCopies(type, isServed);
  }
}

static void countKernels(ModuleOp module, Report &report) {
  if (auto kernels = module.lookupSymbol<ModuleOp>(kernelsName))
    report.kernels = llvm::range_size(kernels.getOps<func::FuncOp>());
  for (ModuleOp stage : module.getOps<ModuleOp>())
    for (auto function : stage.getOps<func::FuncOp>())
      report.launches += llvm::range_size(function.getOps<LaunchOp>());
}

/// Adds the traffic of the programs that steps cause, and the time that they
/// add to a step on average.
static LogicalResult addPrograms(ModuleOp module, const Topology *topology,
                                 Report &report) {
  FailureOr<SmallVector<Stages>> programs = getPrograms(module);
  if (failed(programs))
    return failure();
  for (const Stages &stages : ArrayRef(*programs).drop_front()) {
    auto turn =
        ModuleOp(stages.front())->getAttrOfType<DenseI64ArrayAttr>(attr::turn);
    if (!turn)
      continue;
    double seconds = 0; // of the rank that communicates longest
    for (auto [number, stage] : llvm::enumerate(stages)) {
      func::FuncOp plan = getPlan(stage);
      StageReport traffic;
      addAllTraffic(plan, /*times=*/1, traffic);
      report.stages[number].programs.push_back(
          {getProgram(stage).str(), turn[0], turn[1], traffic.collectives});
      if (report.times.empty())
        continue;
      Ranks ranks(getMesh(plan));
      for (const RankTime &time : report.times)
        if (time.stage == int64_t(number))
          seconds = std::max(seconds,
                             RankTime::get(time.rank, ranks, traffic, *topology)
                                 .getCommunication());
    }
    for (ExpectedTime &time : report.expected)
      time.seconds += seconds / double(turn[0]);
  }
  return success();
}

FailureOr<Report> Report::compute(ModuleOp module, const Topology *topology,
                                  const Profile *profile) {
  FailureOr<SmallVector<ModuleOp>> stages = getStages(module);
  if (failed(stages))
    return failure();
  Report report;
  countKernels(module, report);
  for (ModuleOp stage : *stages)
    if (!getPlan(stage))
      return failure();
  for (auto &[numbers, flops] : countModelFlops(*stages))
    report.modelFlops += flops;
  int64_t numStages = stages->size(), numChunks = 1;
  std::vector<StageCost> costs; // of virtual stages
  MeshAttr mesh;
  for (auto [number, stage] : llvm::enumerate(*stages)) {
    func::FuncOp plan = getPlan(stage);
    if (!plan->hasAttr(attr::arenaBytes)) {
      plan.emitError("has no '")
          << attr::arenaBytes << "'; plan memory before the report";
      return failure();
    }
    if ((mesh = getMesh(plan))) {
      report.microbatches = mesh.getSize(MeshAttr::timeAxis);
      report.rounds = getRounds(plan);
      report.ranksPerStage = mesh.getNumRanks() / mesh.getSize(stageAxis);
    }
    StageReport result;
    addMemory(plan, result);
    addAllTraffic(plan, /*times=*/1, result);
    numChunks = getNumChunks(plan);
    costs.resize(numStages * numChunks, StageCost{0, 0, 0});
    llvm::DenseMap<Operation *, int64_t> flopsOf;
    for (auto run : plan.getOps<RunOp>()) {
      func::FuncOp callee = getCallee(run);
      auto [it, isNew] = flopsOf.try_emplace(callee);
      if (isNew)
        it->second = getFlops(callee);
      int64_t flops = it->second;
      std::optional<Phase> phase = getPhase(run);
      if (!phase || !phase->isChunked()) {
        result.onceFlops += flops;
        continue;
      }
      StageCost &cost = costs[phase->level * numStages + number];
      if (phase->kind == Phase::Forward) {
        result.forwardFlops += flops;
        cost.forward = flops;
      } else if (phase->kind == Phase::Backward) {
        result.backwardFlops += flops;
        cost.backward = flops;
      } else {
        result.weightFlops += flops;
        cost.weight = flops;
      }
    }
    for (auto function : stage.getOps<func::FuncOp>())
      if (auto blocks =
              function->getAttrOfType<IntegerAttr>(attr::attentionBlocks))
        report.attentionBlocks =
            std::max(report.attentionBlocks, blocks.getInt());
    for (BlockArgument argument : plan.getArguments())
      if (plan.getArgAttr(argument.getArgNumber(), attr::parameter) &&
          !isStatistic(plan, argument.getArgNumber()))
        addParameters(plan.getArgAttrDict(argument.getArgNumber()),
                      argument.getType(), report);
    countSamples(plan, report);
    report.stages.push_back(std::move(result));
  }
  if (mesh) {
    for (const MeshAxis &axis : mesh.getAxes())
      if (axis.name != MeshAttr::timeAxis)
        report.mesh.push_back({axis.name.str(), axis.size});
    Ranks ranks(mesh);
    for (int64_t rank = 0; topology && rank < ranks.size(); ++rank)
      report.times.push_back(RankTime::get(
          rank, ranks, report.stages[ranks.getCoordinate(rank, stageAxis)],
          *topology));
  }
  if (profile) {
    FailureOr<std::vector<StageCost>> measured = profile->getCosts(*stages);
    if (failed(measured))
      return failure();
    costs = std::move(*measured);
    report.isMeasured = true;
  }
  // Simulate the schedule of the plans, which includes tasks of stages that run
  // nothing.
  StringRef name = getScheduleName(getPlan(stages->front()));
  llvm::Expected<PipelineSchedule> schedule =
      getSchedule(name, {numStages, report.microbatches / report.rounds,
                         report.rounds, numChunks});
  if (!schedule)
    return module.emitError(llvm::toString(schedule.takeError()));
  for (auto [stage, tasks] : llvm::zip_equal(report.stages, *schedule))
    stage.inFlight = getMaxInFlight(tasks);
  std::optional<Simulation> simulation = simulate(*schedule, costs);
  if (!simulation)
    return module.emitError("has plans that wait for each other");
  report.bubbleSimulated = simulation->bubble;
  if (isNamedSchedule(name)) {
    report.bubble =
        getBubbleFraction(name, {numStages, report.microbatches / report.rounds,
                                 report.rounds, numChunks});
  } else {
    std::vector<StageCost> equal(costs.size(), StageCost{1, 1, 1});
    report.bubble = simulate(*schedule, equal)->bubble;
  }
  report.timeline = {name.str(),
                     report.microbatches,
                     report.rounds,
                     std::move(*schedule),
                     std::move(costs),
                     std::move(*simulation),
                     profile    ? std::optional(1.0)
                     : topology ? std::optional(topology->flops)
                                : std::nullopt,
                     report.isMeasured,
                     /*communication=*/{},
                     /*durations=*/{},
                     /*once=*/{}};
  addCommunication(*stages, topology, report);
  if (topology && topology->speed && !report.times.empty() &&
      failed(addExpectedTimes(*stages, *topology, report)))
    return failure();
  if (failed(addPrograms(module, topology, report)))
    return failure();
  return report;
}
