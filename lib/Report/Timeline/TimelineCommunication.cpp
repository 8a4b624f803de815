//===- TimelineCommunication.cpp - times of communication -----------------===//
//
// Places the messages and collectives of plans in the timeline, between and
// within its tasks, whose times are known.
//
//===----------------------------------------------------------------------===//

#include "Costs/OpCost.h"
#include "ReportParts.h"
#include "dtc/Memory/MemoryPlan.h"
#include "dtc/Plan/Skeleton.h"

using namespace mlir;
using namespace dtc;
using Communication = Timeline::Communication;

std::optional<Task> dtc::getTask(Operation *op) {
  auto run = dyn_cast<RunOp>(op);
  std::optional<Phase> phase;
  if (run && run.getMicrobatch())
    phase = getPhase(run);
  if (!phase || !phase->isChunked())
    return std::nullopt;
  return Task{static_cast<TaskKind>(phase->kind - Phase::Forward),
              int64_t(*run.getMicrobatch()), phase->level};
}

namespace {

/// Calls of one kind in a function.
struct Calls {
  Communication::Kind kind;
  std::string name;
  Traffic traffic;
  double seconds;
};

/// Calls, keyed by the fraction of the function's FLOPs before the first one.
using CallList = std::multimap<double, Calls>;

/// The time of a task.
struct Span {
  double start, cost;
};

/// Walks the plan of one stage in order of execution.
class Placement {
public:
  Placement(func::FuncOp plan, int64_t stage, const Topology *topology,
            const RankTime *rank, const Timeline &timeline);

  SmallVector<Communication> run();

private:
  CallList getCalls(ArrayRef<Operation *> ops) const;
  std::optional<Span> getSpan(Operation *op) const;
  double getArrival(RecvOp recv, double now) const;
  void place(const CallList &calls, Span span);

  func::FuncOp plan;
  int64_t stage;
  const Topology *topology;
  const RankTime *rank; ///< null without a topology
  double scale;         ///< of a second, in the timeline's unit
  std::map<std::tuple<TaskKind, int64_t, int64_t>, Span> spans;
  double busyUntil = 0;
  std::multimap<double, Communication> placed; // by start
};

Placement::Placement(func::FuncOp plan, int64_t stage, const Topology *topology,
                     const RankTime *rank, const Timeline &timeline)
    : plan(plan), stage(stage), topology(topology), rank(rank),
      scale(timeline.flopsPerSecond.value_or(1)) {
  int64_t numStages = timeline.schedule.size();
  for (auto [task, start] :
       llvm::zip(timeline.schedule[stage], timeline.simulation.starts[stage]))
    spans[{task.kind, task.microbatch, task.chunk}] = {
        start, timeline.costs[task.chunk * numStages + stage].get(task.kind)};
}

/// The calls of one function's ops.
CallList Placement::getCalls(ArrayRef<Operation *> ops) const {
  StageReport does;
  std::map<CollectiveClass, double> begins;
  double flops = 0;
  for (Operation *op : ops) {
    addTraffic(*op, /*times=*/1, does);
    for (auto &entry : does.collectives)
      begins.try_emplace(entry.first, flops);
    flops += getFlops(op);
  }
  RankTime time{};
  if (rank)
    time = RankTime::get(rank->rank, Ranks(getMesh(plan)), does, *topology);
  CallList calls;
  for (auto &[own, traffic] : does.collectives)
    calls.insert({flops > 0 ? begins[own] / flops : 0,
                  {Communication::Collective, own.getName(), traffic,
                   time.collectives[own]}});
  for (auto &[other, traffic] : does.sends)
    calls.insert(
        {1,
         {Communication::Send, "send to stage " + std::to_string(other),
          traffic, time.sends[other]}});
  return calls;
}

/// The time of the task that an op of the plan runs, if any.
std::optional<Span> Placement::getSpan(Operation *op) const {
  std::optional<Task> task = getTask(op);
  if (!task)
    return std::nullopt;
  return spans.at({task->kind, task->microbatch, task->chunk});
}

/// The start of the first task that needs a message; `now` if none does.
double Placement::getArrival(RecvOp recv, double now) const {
  std::optional<double> arrival;
  for (Operation *user : recv->getUsers())
    if (std::optional<Span> span = getSpan(user))
      arrival = std::min(arrival.value_or(span->start), span->start);
  return arrival.value_or(now);
}

/// Places calls one after the other, each at its time in the span or as soon as
/// the one before has ended.
void Placement::place(const CallList &calls, Span span) {
  for (auto &[after, own] : calls) {
    double start = std::max(span.start + after * span.cost, busyUntil);
    double duration = own.seconds * scale;
    placed.insert({start,
                   {own.kind, own.name, stage, own.traffic.count,
                    own.traffic.bytes, start, duration}});
    busyUntil = start + duration;
  }
}

SmallVector<Communication> Placement::run() {
  llvm::DenseMap<Operation *, CallList> callsOf;
  SmallVector<Operation *> between; // ops since the last run
  std::map<std::pair<double, int64_t>, Traffic> arrivals; // by time and stage
  double now = 0; // end of the last task
  for (Operation &op : plan.front()) {
    if (auto recv = dyn_cast<RecvOp>(op)) {
      StageReport does;
      addTraffic(op, /*times=*/1, does);
      Traffic &sum = arrivals[{getArrival(recv, now), recv.getStage()}];
      sum.count += 1;
      sum.bytes += does.recvs[recv.getStage()].bytes;
      continue;
    }
    auto run = dyn_cast<RunOp>(op);
    if (!run) {
      between.push_back(&op);
      continue;
    }
    place(getCalls(between), {now, 0});
    between.clear();
    func::FuncOp callee = getCallee(run);
    auto [it, isNew] = callsOf.try_emplace(callee);
    if (isNew)
      it->second = getCalls(llvm::to_vector(
          llvm::make_pointer_range(callee.front().getOperations())));
    // Work that runs once a step takes no time here.
    Span span = getSpan(run).value_or(Span{now, 0});
    place(it->second, span);
    now = span.start + span.cost;
  }
  place(getCalls(between), {now, 0});
  for (auto &[key, traffic] : arrivals)
    placed.insert({key.first,
                   {Communication::Receive,
                    "receive from stage " + std::to_string(key.second), stage,
                    traffic.count, traffic.bytes, key.first, 0}});
  return llvm::to_vector(llvm::make_second_range(placed));
}

} // namespace

void dtc::addCommunication(ArrayRef<ModuleOp> stages, const Topology *topology,
                           Report &report) {
  std::vector<const RankTime *> slowest = report.getSlowestRanks();
  for (auto [number, stage] : llvm::enumerate(stages))
    llvm::append_range(report.timeline.communication,
                       Placement(getPlan(stage), number, topology,
                                 slowest.empty() ? nullptr : slowest[number],
                                 report.timeline)
                           .run());
}
