//===- PlanMemory.cpp - assign static offsets to all buffers --------------===//
//
// Plans a frame for each function, then the arena of each plan, which holds the
// frames. Blocks have no control flow, so lifetimes are positions in the block;
// a run is one position. Other programs, such as the evaluation, are planned
// around the buffers that the stage keeps between steps.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/SignatureEditor.h"
#include "dtc/Memory/MemoryPlan.h"
#include "dtc/Memory/MemoryPlanner.h"
#include "dtc/Memory/Passes.h"
#include "dtc/Plan/Skeleton.h"
#include "mlir/IR/Threading.h"

namespace dtc {
#define GEN_PASS_DEF_PLANMEMORY
#include "dtc/Memory/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

namespace {

/// Checks that no op reads an operand after a result has overwritten it, and
/// that the caller expects each overwritten argument.
LogicalResult checkUpdates(func::FuncOp function, const AliasClasses &classes) {
  bool isPlan = function.getName() == planName;
  bool ok = true;
  /// The number of values in a buffer before the current op, and the last
  /// reader of one of them.
  struct Readers {
    size_t numValues = 0;
    Operation *last = nullptr;
  };
  llvm::DenseMap<Value, Readers> readersOf;
  for (Operation &op : function.front())
    for (OpResult result : op.getResults()) {
      if (!classes.isUpdate(result))
        continue;
      Value root = classes.getRoot(result);
      if (root.getDefiningOp<ConstantOp>()) {
        op.emitOpError("overwrites a constant");
        ok = false;
      }
      auto argument = dyn_cast<BlockArgument>(root);
      if (argument && !isPlan &&
          !function.getArgAttr(argument.getArgNumber(), attr::update)) {
        op.emitOpError("overwrites argument ")
            << argument.getArgNumber() << " of '" << function.getName()
            << "', which does not have '" << attr::update << "'";
        ok = false;
      }
      Readers &readers = readersOf[root];
      ArrayRef<Value> members = classes.getMembers(root);
      for (; members[readers.numValues] != result; ++readers.numValues)
        for (Operation *user : members[readers.numValues].getUsers())
          if (!readers.last || readers.last->isBeforeInBlock(user))
            readers.last = user;
      if (readers.last && op.isBeforeInBlock(readers.last)) {
        InFlightDiagnostic diagnostic = op.emitOpError(
            "overwrites a value that is still needed; compute what needs it "
            "first, or copy it");
        diagnostic.attachNote(readers.last->getLoc()) << "needed here";
        ok = false;
      }
    }
  return success(ok);
}

/// The buffers of one block, and the planner's result.
class BlockMemory {
public:
  /// `step` is the plan of the step if `function` is that of another program.
  /// `offload` selects the arguments in host memory.
  explicit BlockMemory(func::FuncOp function, func::FuncOp step = {},
                       StringRef offload = "none")
      : function(function), step(step), offload(offload),
        classes(function.front()), homes(function, classes) {}

  LogicalResult plan();
  int64_t getBytes() const { return total; }
  int64_t getHostBytes() const { return hostTotal; }

  /// Byte offset of the frame of a run.
  int64_t getFrameOffset(RunOp run) const {
    return buffers[frames.lookup(run)].offset;
  }
  int64_t getOffset(Value value) const {
    Value root = classes.getRoot(value);
    if (auto host = offloaded.find(root); host != offloaded.end())
      return host->second + classes.getOffset(value);
    auto it = roots.find(root);
    return it == roots.end()
               ? callersMemory
               : buffers[it->second].offset + classes.getOffset(value);
  }

private:
  bool isOffloaded(BlockArgument argument);
  void collectArgumentsOfStep(int64_t end);
  LogicalResult collectArgumentsOfProgram(int64_t end);
  LogicalResult collect();
  void replaceArguments(ArrayRef<SmallVector<Value>> adjacent);

  func::FuncOp function, step;
  StringRef offload;
  AliasClasses classes;
  MemoryHomes homes;
  std::vector<MemoryBuffer> buffers;
  llvm::DenseMap<Value, int64_t> offloaded; ///< arguments in host memory
  llvm::DenseMap<Value, unsigned> roots;
  llvm::DenseMap<Value, BlockArgument> replaced; ///< by their new values
  llvm::DenseMap<Operation *, unsigned> frames;
  int64_t total = 0, hostTotal = 0;
};

/// Host memory holds state, or also shards of parameters that are gathered.
bool BlockMemory::isOffloaded(BlockArgument argument) {
  unsigned number = argument.getArgNumber();
  if (function.getArgAttr(number, attr::state))
    return offload != "none";
  return offload == "parameters" &&
         function.getArgAttr(number, attr::parameter) &&
         function.getArgAttr(number, attr::members);
}

/// Arguments are live all the time, unless a new value replaces them.
void BlockMemory::collectArgumentsOfStep(int64_t end) {
  for (BlockArgument argument : function.getArguments()) {
    int64_t bytes = getLocalBytes(argument.getType());
    if (isOffloaded(argument)) {
      offloaded[argument] = hostMemory + hostTotal;
      hostTotal += alignMemory(bytes);
      continue;
    }
    roots[argument] = buffers.size();
    buffers.push_back({bytes, 0, end});
  }
  for (auto [value, argument] : getReplacedArguments(function, classes))
    if (!offloaded.contains(argument)) {
      replaced[value] = argument;
      buffers[roots.lookup(argument)].end = 0;
    }
}

/// Buffers that the step keeps stay live and keep the step's offsets.
LogicalResult BlockMemory::collectArgumentsOfProgram(int64_t end) {
  for (BlockArgument argument : step.getArguments()) {
    int64_t offset = *getPlannedOffset(argument);
    if (isInHostMemory(offset)) {
      offloaded[argument] = offset;
      continue;
    }
    roots[argument] = buffers.size();
    buffers.push_back({getLocalBytes(argument.getType()), 0, end, offset});
  }
  PlanArguments ofStep(step);
  for (BlockArgument argument : function.getArguments()) {
    BlockArgument same = ofStep.find(argument);
    if (!same || same.getType() != argument.getType())
      return function.emitError("argument ")
             << argument.getArgNumber()
             << " of another program is not an argument of the training step";
    if (offloaded.contains(same)) {
      int64_t offset = offloaded.lookup(same);
      offloaded[argument] = offset;
    } else {
      roots[argument] = roots.lookup(same);
    }
  }
  return success();
}

LogicalResult BlockMemory::collect() {
  Block &body = function.front();
  FailureOr<InFlight> inFlight = getInFlight(function, classes);
  if (failed(inFlight))
    return failure();
  int64_t end = llvm::range_size(body);
  if (step && failed(collectArgumentsOfProgram(end)))
    return failure();
  if (!step && function.getName() == planName)
    collectArgumentsOfStep(end);
  for (auto [time, op] : llvm::enumerate(body)) {
    int64_t now = time;
    auto keep = [&](Value root) {
      auto it = roots.find(root);
      if (it != roots.end())
        buffers[it->second].end = std::max(buffers[it->second].end, now);
    };
    for (Value operand : op.getOperands())
      keep(classes.getRoot(operand));
    llvm::for_each(inFlight->endedBy.lookup(&op), keep);
    for (Value result : op.getResults())
      if (classes.getRoot(result) == result &&
          homes.get(result).kind == MemoryHome::Local) {
        roots[result] = buffers.size();
        buffers.push_back({getLocalBytes(result.getType()), now, now});
      }
    if (auto run = dyn_cast<RunOp>(op)) {
      frames[run] = buffers.size();
      buffers.push_back({getFrameBytes(run), now, now});
    }
  }
  return success();
}

/// Puts the new value of an argument in the argument's place if that is free by
/// then and no collective needs the value next to others. Otherwise the value
/// is copied there at the end.
void BlockMemory::replaceArguments(ArrayRef<SmallVector<Value>> adjacent) {
  llvm::DenseSet<Value> bound;
  for (ArrayRef<Value> values : adjacent)
    bound.insert_range(values);
  int64_t offset = 0;
  for (Value value : function.front().getTerminator()->getOperands()) {
    Value root = classes.getRoot(value);
    BlockArgument argument = replaced.lookup(root);
    if (!argument || buffers[roots.lookup(root)].offset >= 0)
      continue;
    MemoryBuffer &before = buffers[roots.lookup(argument)];
    MemoryBuffer &after = buffers[roots.lookup(root)];
    if (before.end >= after.begin || bound.contains(root) ||
        bound.contains(argument)) {
      before.end = after.end;
      continue;
    }
    before.offset = after.offset = offset;
    offset += alignMemory(before.bytes);
  }
}

LogicalResult BlockMemory::plan() {
  if (failed(checkUpdates(function, classes)) || failed(collect()))
    return failure();
  auto adjacent = getAdjacentRoots(function, classes, homes);
  if (failed(adjacent))
    return failure();
  replaceArguments(*adjacent);
  std::vector<AdjacentBuffers> groups;
  llvm::DenseSet<Value> grouped;
  for (ArrayRef<Value> values : *adjacent) {
    if (!roots.contains(values.front()))
      continue; // in the caller's or host memory
    groups.emplace_back();
    for (Value value : values) {
      if (!grouped.insert(value).second)
        return emitError(value.getLoc())
               << "this value is an operand of two collectives that each need "
                  "their operands adjacent";
      groups.back().push_back(roots.lookup(value));
    }
  }
  total = planMemory(buffers, groups);
  Builder builder(function.getContext());
  for (Operation &op : function.front()) {
    if (op.getNumResults() == 0 || isa<ConstantOp>(op))
      continue;
    SmallVector<int64_t> offsets;
    for (Value result : op.getResults())
      offsets.push_back(getOffset(result));
    op.setAttr(attr::offsets, builder.getDenseI64ArrayAttr(offsets));
  }
  return success();
}

struct PlanMemoryPass : dtc::impl::PlanMemoryBase<PlanMemoryPass> {
  using PlanMemoryBase::PlanMemoryBase;

  void runOnOperation() override {
    if (!llvm::is_contained({"none", "state", "parameters"},
                            StringRef(offload))) {
      getOperation().emitError("offload is '")
          << offload << "', expected none, state or parameters";
      return signalPassFailure();
    }
    FailureOr<SmallVector<Stages>> programs = getPrograms(getOperation());
    if (failed(programs))
      return signalPassFailure();
    const Stages &stages = programs->front();
    auto plan = [&](size_t number) -> LogicalResult {
      if (failed(planStage(stages[number], {})))
        return failure();
      func::FuncOp step = getPlan(stages[number]);
      SmallVector<func::FuncOp> plans = {step};
      for (const Stages &others : ArrayRef(*programs).drop_front()) {
        if (failed(planStage(others[number], step)))
          return failure();
        plans.push_back(getPlan(others[number]));
      }
      shareArena(plans);
      return success();
    };
    if (failed(failableParallelForEach(
            &getContext(), llvm::seq<size_t>(0, stages.size()), plan)))
      signalPassFailure();
  }

  /// All plans of a stage share one arena, as large as the largest one needs.
  static void shareArena(ArrayRef<func::FuncOp> plans) {
    IntegerAttr bytes;
    for (func::FuncOp plan : plans)
      if (auto needed = plan->getAttrOfType<IntegerAttr>(attr::arenaBytes);
          !bytes || needed.getInt() > bytes.getInt())
        bytes = needed;
    for (func::FuncOp plan : plans)
      plan->setAttr(attr::arenaBytes, bytes);
  }

  /// `step` is the plan of the step if the stage belongs to another program.
  LogicalResult planStage(ModuleOp stage, func::FuncOp step) {
    func::FuncOp plan = getPlan(stage);
    if (!plan)
      return failure();
    if (plan.isExternal())
      return plan.emitError("has no body; schedule micro-batches first");
    Builder builder(&getContext());
    for (auto function : stage.getOps<func::FuncOp>())
      if (function != plan && failed(planFunction(function, builder)))
        return failure();

    BlockMemory arena(plan, step, offload);
    if (failed(arena.plan()))
      return failure();
    SignatureEditor signature(plan);
    for (BlockArgument argument : plan.getArguments())
      signature.setArg(argument.getArgNumber(), attr::offset,
                       builder.getI64IntegerAttr(arena.getOffset(argument)));
    signature.write();
    for (auto run : plan.getOps<RunOp>())
      run->setAttr(attr::frameOffset,
                   builder.getI64IntegerAttr(arena.getFrameOffset(run)));
    plan->setAttr(attr::arenaBytes,
                  builder.getI64IntegerAttr(arena.getBytes()));
    if (arena.getHostBytes() > 0)
      plan->setAttr(attr::hostBytes,
                    builder.getI64IntegerAttr(arena.getHostBytes()));
    return success();
  }

  LogicalResult planFunction(func::FuncOp function, Builder &builder) {
    BlockMemory frame(function);
    if (failed(frame.plan()))
      return failure();
    function->setAttr(attr::frameBytes,
                      builder.getI64IntegerAttr(frame.getBytes()));
    return success();
  }
};

} // namespace
