//===- StepTime.cpp - expected duration of a step -------------------------===//
//
// Simulates the plans of all stages with one rank each. A rank has a queue of
// computation and a queue of communication, and the plan determines the waits
// between them. OpCost.cpp gives the cost of ops, the topology that of
// communication.
//
//===----------------------------------------------------------------------===//

#include "HostTraffic.h"
#include "OpCost.h"
#include "ReportParts.h"
#include "dtc/Memory/MemoryPlan.h"
#include <deque>

using namespace mlir;
using namespace dtc;

//===----------------------------------------------------------------------===//
// Plans as lists
//===----------------------------------------------------------------------===//

namespace {

/// An action of a rank, in the order of its plan.
struct Event {
  enum Kind { Compute, Transfer, Wait } kind;
  double seconds = 0;       ///< of a transfer, or of work without tf32
  double secondsInTf32 = 0; ///< of work
  int64_t transfer = -1;    ///< index of the transfer that starts
  /// The other participants of a transfer, besides ranks of the same stage,
  /// which run the same: none, all stages, or one stage. Messages with one
  /// stage match in the order of their tags.
  enum Partner { Own, All, To, From } partner = Own;
  int64_t stage = 0, tag = 0;
};

/// The description of a transfer in a timeline.
struct TransferInfo {
  Timeline::Communication::Kind kind;
  std::string name;
  int64_t bytes;
};

/// A function that a plan runs, and the range of its events.
struct RunInfo {
  std::optional<Task> task; ///< none for work that runs once a step
  std::string name;
  size_t begin, end;
};

/// All events of a stage's rank in a step.
struct StepEvents {
  std::vector<Event> events;
  std::vector<TransferInfo> transfers; ///< by their numbers
  std::vector<RunInfo> runs;           ///< of the plan
};

/// Appends the events of a stage's rank, function by function.
class Listing {
public:
  Listing(const RankTime &rank, const Ranks &ranks, const Topology &topology,
          OpCosts &costs, const HostTraffic &host)
      : rank(rank.rank), ranks(ranks), topology(topology), costs(costs),
        host(host) {}

  void add(func::FuncOp function);
  StepEvents does;

private:
  const AliasClasses &getClasses(func::FuncOp function);
  void add(RunOp run, const AliasClasses &classes);
  void start(Operation &op, const AliasClasses &classes);

  int64_t rank;
  const Ranks &ranks;
  const Topology &topology;
  OpCosts &costs;
  const HostTraffic &host;
  bool isInRun = false;
  /// Transfers in flight, by the root of their buffer; sends, by their result.
  llvm::DenseMap<Value, int64_t> inFlight;
  llvm::DenseMap<Operation *, std::unique_ptr<AliasClasses>> classesOf;
};

} // namespace

const AliasClasses &Listing::getClasses(func::FuncOp function) {
  std::unique_ptr<AliasClasses> &classes = classesOf[function];
  if (!classes)
    classes = std::make_unique<AliasClasses>(function.front());
  return *classes;
}

static Value getBuffer(Value value, const AliasClasses &classes) {
  return value.getDefiningOp<SendOp>() ? value : classes.getRoot(value);
}

/// Transfers in flight are passed from the caller to the callee and back.
void Listing::add(RunOp run, const AliasClasses &classes) {
  func::FuncOp callee = getCallee(run);
  const AliasClasses &own = getClasses(callee);
  auto hand = [&](Value from, const AliasClasses &fromClasses, Value to,
                  const AliasClasses &toClasses) {
    auto it = inFlight.find(getBuffer(from, fromClasses));
    Value buffer = getBuffer(to, toClasses);
    if (it == inFlight.end()) {
      inFlight.erase(buffer);
    } else {
      int64_t transfer = it->second;
      inFlight[buffer] = transfer;
    }
  };
  for (auto [operand, argument] :
       llvm::zip_equal(run.getInputs(), callee.getArguments()))
    hand(operand, classes, argument, own);
  size_t begin = does.events.size();
  bool isOuter = !std::exchange(isInRun, true);
  add(callee);
  if (isOuter) {
    isInRun = false;
    does.runs.push_back(
        {getTask(run), callee.getName().str(), begin, does.events.size()});
  }
  for (auto [returned, result] : llvm::zip_equal(
           callee.front().getTerminator()->getOperands(), run.getResults()))
    hand(returned, own, result, classes);
}

void Listing::start(Operation &op, const AliasClasses &classes) {
  Event event{Event::Transfer};
  event.transfer = does.transfers.size();
  if (auto send = dyn_cast<SendOp>(op)) {
    event.partner = Event::To;
    event.stage = send.getStage();
    event.tag = send.getTag();
    int64_t bytes = getLocalBytes(send.getX().getType());
    does.transfers.push_back({Timeline::Communication::Send,
                              "send to stage " + std::to_string(event.stage),
                              bytes});
    event.seconds = topology.getMessageSeconds(
        rank, ranks.getPeer(rank, stageAxis, event.stage), 1, bytes);
  } else if (auto recv = dyn_cast<RecvOp>(op)) {
    event.partner = Event::From;
    event.stage = recv.getStage();
    event.tag = recv.getTag();
    int64_t bytes = getLocalBytes(recv.getType());
    does.transfers.push_back(
        {Timeline::Communication::Receive,
         "receive from stage " + std::to_string(event.stage), bytes});
    event.seconds = topology.getMessageSeconds(
        ranks.getPeer(rank, stageAxis, event.stage), rank, 1, bytes);
  } else {
    auto collective = cast<CollectiveOpInterface>(op);
    event.partner = crossesStages(&op) ? Event::All : Event::Own;
    int64_t bytes = getWholeBytes(collective);
    does.transfers.push_back({Timeline::Communication::Collective,
                              CollectiveClass::get(collective).getName(),
                              bytes});
    event.seconds = topology.getCollectiveSeconds(
        collective.getCollectiveKind(),
        ranks.getGroup(rank, collective.getAxes()), 1, bytes);
    event.seconds +=
        host.get(&op, classes).getSeconds(topology.speed->hostBandwidth);
  }
  does.events.push_back(event);
  if (!isStart(&op)) {
    does.events.push_back({Event::Wait, 0, 0, event.transfer});
    return;
  }
  for (Value result : op.getResults())
    inFlight[getBuffer(result, classes)] = event.transfer;
}

void Listing::add(func::FuncOp function) {
  const AliasClasses &classes = getClasses(function);
  for (Operation &op : function.front()) {
    if (auto run = dyn_cast<RunOp>(op)) {
      add(run, classes);
    } else if (isa<SendOp, RecvOp, CollectiveOpInterface>(op)) {
      start(op, classes);
    } else if (auto wait = dyn_cast<WaitOp>(op)) {
      auto it = inFlight.find(getBuffer(wait.getX(), classes));
      if (it != inFlight.end())
        does.events.push_back({Event::Wait, 0, 0, it->second});
    } else if (OpCost cost = costs.get(&op); cost.kind != OpCost::Nothing) {
      double onLink =
          host.get(&op, classes).getSeconds(topology.speed->hostBandwidth);
      auto getSeconds = [&](bool usesTf32) {
        return std::max(onLink, cost.getSeconds(*topology.speed, usesTf32));
      };
      does.events.push_back({Event::Compute, getSeconds(/*usesTf32=*/false),
                             getSeconds(/*usesTf32=*/true)});
    }
  }
}

//===----------------------------------------------------------------------===//
// Simulation
//===----------------------------------------------------------------------===//

namespace {

/// The progress of the rank of one stage.
struct Progress {
  explicit Progress(const std::vector<Event> &events) : events(&events) {}

  const std::vector<Event> *events;
  size_t next = 0;
  double computed = 0, communicated = 0; ///< times when its queues become empty
  struct Pending {
    const Event *event;
    double issued; ///< time when its operands are computed
  };
  std::deque<Pending> queue;  ///< communication
  std::vector<double> ends;   ///< of transfers; negative: not done
  std::vector<double> starts; ///< of transfers that have ended
  /// The time when the rank finished each event; for a transfer, when it was
  /// issued.
  std::vector<double> done;

  bool isDone() const { return next == events->size() && queue.empty(); }
  /// Computes and issues until it must wait. Returns whether it made progress.
  bool advance(bool usesTf32);
  /// The earliest start of the transfer at the head of its queue.
  double getStart() const {
    return std::max(communicated, queue.front().issued);
  }
  void finishFirst(double start, double end);
};

} // namespace

bool Progress::advance(bool usesTf32) {
  size_t before = next;
  for (; next < events->size(); ++next) {
    const Event &event = (*events)[next];
    if (event.kind == Event::Compute) {
      computed += usesTf32 ? event.secondsInTf32 : event.seconds;
    } else if (event.kind == Event::Transfer) {
      queue.push_back({&event, computed});
      ends.push_back(-1);
      starts.push_back(0);
    } else if (double end = ends[event.transfer]; end < 0) {
      break;
    } else {
      computed = std::max(computed, end);
    }
    done.push_back(computed);
  }
  return next != before;
}

void Progress::finishFirst(double start, double end) {
  starts[queue.front().event->transfer] = start;
  ends[queue.front().event->transfer] = end;
  communicated = end;
  queue.pop_front();
}

/// The stages that take part in the transfer at the head of a stage's queue;
/// empty if one of them has not reached it.
static SmallVector<size_t> getMeeting(ArrayRef<Progress> stages, size_t stage) {
  const Event &event = *stages[stage].queue.front().event;
  auto isAt = [&](size_t other, Event::Partner partner) {
    if (stages[other].queue.empty())
      return false;
    const Event &theirs = *stages[other].queue.front().event;
    return theirs.partner == partner && theirs.tag == event.tag &&
           (partner == Event::All || size_t(theirs.stage) == stage);
  };
  SmallVector<size_t> all = llvm::to_vector(llvm::seq(stages.size()));
  switch (event.partner) {
  case Event::Own:
    return {stage};
  case Event::All:
    return llvm::all_of(all, [&](size_t s) { return isAt(s, Event::All); })
               ? all
               : SmallVector<size_t>();
  case Event::To:
  case Event::From:
    if (!isAt(event.stage,
              event.partner == Event::To ? Event::From : Event::To))
      return {};
    return {stage, size_t(event.stage)};
  }
  llvm_unreachable("all kinds of partners are there");
}

/// The state of all stages at the end of the step; none on a deadlock.
static std::optional<std::vector<Progress>> execute(ArrayRef<StepEvents> plans,
                                                    bool usesTf32) {
  std::vector<Progress> stages;
  for (const StepEvents &plan : plans)
    stages.emplace_back(plan.events);
  for (bool isMoving = true; isMoving;) {
    isMoving = false;
    for (size_t stage = 0; stage < stages.size(); ++stage) {
      isMoving |= stages[stage].advance(usesTf32);
      while (!stages[stage].queue.empty()) {
        SmallVector<size_t> meeting = getMeeting(stages, stage);
        if (meeting.empty())
          break;
        double start = 0, seconds = 0;
        for (size_t member : meeting) {
          start = std::max(start, stages[member].getStart());
          seconds =
              std::max(seconds, stages[member].queue.front().event->seconds);
        }
        for (size_t member : meeting)
          stages[member].finishFirst(start, start + seconds);
        isMoving = true;
      }
    }
  }
  if (!llvm::all_of(stages, [](const Progress &own) { return own.isDone(); }))
    return std::nullopt;
  return stages;
}

/// Time when the last stage is done, in seconds.
static double getEnd(ArrayRef<Progress> stages) {
  double end = 0;
  for (const Progress &stage : stages)
    end = std::max({end, stage.computed, stage.communicated});
  return end;
}

//===----------------------------------------------------------------------===//
// Timeline
//===----------------------------------------------------------------------===//

/// Adds the events of a stage to the timeline, in seconds.
static void draw(int64_t stage, const StepEvents &plan,
                 const Progress &progress, Timeline &timeline) {
  std::vector<Task> &tasks = timeline.schedule[stage];
  auto &starts = timeline.simulation.starts[stage];
  timeline.durations.emplace_back(tasks.size(), 0);
  for (const RunInfo &run : plan.runs) {
    double start = run.begin > 0 ? progress.done[run.begin - 1] : 0;
    double duration = run.end > 0 ? progress.done[run.end - 1] - start : 0;
    if (!run.task) {
      if (duration > 0)
        timeline.once.push_back({run.name, stage, start, duration});
      continue;
    }
    size_t at = llvm::find(tasks, *run.task) - tasks.begin();
    starts[at] = start;
    timeline.durations[stage][at] = duration;
  }
  std::multimap<double, Timeline::Communication> all; // by start
  for (auto [i, transfer] : llvm::enumerate(plan.transfers))
    all.insert(
        {progress.starts[i],
         {transfer.kind, transfer.name, stage, /*count=*/1, transfer.bytes,
          progress.starts[i], progress.ends[i] - progress.starts[i]}});
  llvm::append_range(timeline.communication, llvm::make_second_range(all));
}

static void draw(ArrayRef<StepEvents> plans, ArrayRef<Progress> stages,
                 Timeline &timeline) {
  timeline.flopsPerSecond = 1; // times are seconds
  timeline.simulation.makespan = getEnd(stages);
  timeline.communication.clear();
  for (auto [stage, plan] : llvm::enumerate(plans))
    draw(stage, plan, stages[stage], timeline);
}

LogicalResult dtc::addExpectedTimes(ArrayRef<ModuleOp> stages,
                                    const Topology &topology, Report &report) {
  OpCosts costs;
  std::vector<StepEvents> plans;
  std::vector<const RankTime *> ranks = report.getSlowestRanks();
  for (auto [stage, rank] : llvm::zip_equal(stages, ranks)) {
    func::FuncOp plan = getPlan(stage);
    if (getHostBytes(plan) > 0 && topology.speed->hostBandwidth == 0)
      return success();
    HostTraffic host(plan);
    Ranks mesh(getMesh(plan));
    Listing listing(*rank, mesh, topology, costs, host);
    listing.add(plan);
    plans.push_back(std::move(listing.does));
  }
  auto add = [&](const std::string &numbers, bool usesTf32) {
    auto end = execute(plans, usesTf32);
    if (!end)
      return failure();
    if (report.expected.empty() && !report.isMeasured &&
        !report.timeline.schedule.empty())
      draw(plans, *end, report.timeline);
    report.expected.push_back(
        {numbers, getEnd(*end), topology.speed->getFlops(numbers)});
    return success();
  };
  std::string numbers = "f32"; // of most products
  double most = 0;
  for (auto &[name, flops] : countModelFlops(stages))
    if (flops > most) {
      numbers = name;
      most = flops;
    }
  if (failed(add(numbers, /*usesTf32=*/false)) ||
      (numbers == "f32" && topology.speed->tf32 != topology.speed->f32 &&
       failed(add("tf32", /*usesTf32=*/true))))
    return emitError(ModuleOp(stages.front()).getLoc(),
                     "has plans that wait for each other");
  return success();
}
