//===- VerifyMemory.cpp - check that live buffers do not overlap ----------===//
//
// Does not trust lifetimes. Writes the name of every value into the bytes of
// its offset, in order of execution, and checks that the name is still there
// when the value is read.
//
//===----------------------------------------------------------------------===//

#include "ByteRange.h"
#include "dtc/Memory/MemoryPlan.h"
#include "dtc/Memory/MemoryPlanner.h"
#include "dtc/Memory/Verify.h"
#include "dtc/Plan/Skeleton.h"
#include "mlir/IR/Threading.h"
#include <map>

using namespace mlir;
using namespace dtc;

namespace {

/// The last writer of each byte.
class ByteOwners {
public:
  struct Owner {
    Value value; ///< null for the frame of a run
    Location location;
  };

  void write(ByteRange range, Owner owner) {
    splitAt(range.begin);
    splitAt(range.end);
    owners.erase(owners.lower_bound(range.begin),
                 owners.lower_bound(range.end));
    if (range.begin < range.end)
      owners.insert({range.begin, {range.end, owner}});
  }

  /// Another value that has written into the range, if any. Unwritten bytes
  /// have no owner.
  std::optional<Owner> findOther(ByteRange range, Value value) const {
    return find(range, [&](Value owner) { return owner != value; });
  }

  /// The first owner in the range that satisfies `condition`.
  std::optional<Owner> find(ByteRange range,
                            llvm::function_ref<bool(Value)> condition) const {
    if (range.begin >= range.end)
      return std::nullopt;
    auto it = owners.upper_bound(range.begin);
    if (it != owners.begin() && std::prev(it)->second.first > range.begin)
      --it;
    for (; it != owners.end() && it->first < range.end; ++it)
      if (condition(it->second.second.value))
        return it->second.second;
    return std::nullopt;
  }

private:
  void splitAt(int64_t position) {
    auto it = owners.upper_bound(position);
    if (it == owners.begin())
      return;
    --it;
    auto [end, owner] = it->second;
    if (it->first == position || end <= position)
      return;
    it->second.first = position;
    owners.insert({position, {end, owner}});
  }

  /// The end and the owner of each range, by its begin.
  std::map<int64_t, std::pair<int64_t, Owner>> owners;
};

class BlockChecker {
public:
  /// `step` is the plan of the step if `function` is that of another program.
  explicit BlockChecker(func::FuncOp function, func::FuncOp step = {})
      : function(function), step(step), isPlan(function.getName() == planName),
        classes(function.front()), homes(function, classes) {}

  LogicalResult check();

private:
  LogicalResult checkInside(Location location, ByteRange range);
  LogicalResult checkFrame(RunOp run);
  LogicalResult read(Operation &op, Value value);
  LogicalResult read(Operation &op, Value value, Value root);
  LogicalResult writeArgument(BlockArgument argument);
  LogicalResult checkSamePlace(BlockArgument argument,
                               const PlanArguments &ofStep);
  LogicalResult checkKept();
  LogicalResult checkApart(OpResult result, ByteRange range);
  LogicalResult write(OpResult result);
  LogicalResult checkAdjacent();

  func::FuncOp function, step;
  bool isPlan;
  AliasClasses classes;
  MemoryHomes homes;
  ByteOwners memory;
  int64_t size = 0, hostSize = 0;
  std::optional<ByteRange> frame; ///< of the current run
  llvm::DenseSet<Value> operands; ///< roots of the current op's operands
};

LogicalResult BlockChecker::checkInside(Location location, ByteRange range) {
  bool isOnHost = isInHostMemory(range.begin);
  int64_t begin = isOnHost ? hostMemory : 0;
  int64_t bytes = isOnHost ? hostSize : size;
  range = {range.begin - begin, range.end - begin};
  if (range.begin < 0 || range.end > bytes)
    return emitError(location)
           << "lies in bytes " << range.begin << " to " << range.end
           << ", outside the " << bytes
           << (isOnHost ? " bytes of the host's memory of '" : " bytes of '")
           << function.getName() << "'";
  if (range.begin % memoryAlignment != 0)
    return emitError(location)
           << "begins at byte " << range.begin << ", expected a multiple of "
           << memoryAlignment;
  return success();
}

LogicalResult BlockChecker::read(Operation &op, Value value) {
  return read(op, value, classes.getRoot(value));
}

LogicalResult BlockChecker::read(Operation &op, Value value, Value root) {
  std::optional<int64_t> offset = getPlannedOffset(value);
  if (!offset)
    return success();
  ByteRange range{*offset, *offset + getLocalBytes(value.getType())};
  std::optional<ByteOwners::Owner> other = memory.findOther(range, root);
  if (!other)
    return success();
  InFlightDiagnostic diagnostic =
      op.emitError("reads a value in bytes ")
      << range.begin << " to " << range.end
      << " that has been overwritten; their lifetimes overlap";
  diagnostic.attachNote(other->location) << "overwritten here";
  diagnostic.attachNote(value.getLoc()) << "the value";
  return failure();
}

LogicalResult BlockChecker::writeArgument(BlockArgument argument) {
  std::optional<int64_t> offset = getPlannedOffset(argument);
  if (!offset)
    return function.emitError("argument ")
           << argument.getArgNumber() << " has no offset; plan memory first";
  ByteRange range{*offset, *offset + getLocalBytes(argument.getType())};
  if (failed(checkInside(argument.getLoc(), range)))
    return failure();
  if (auto other = memory.findOther(range, argument)) {
    InFlightDiagnostic diagnostic =
        function.emitError("argument ")
        << argument.getArgNumber() << " lies in bytes " << range.begin << " to "
        << range.end << ", which another argument holds";
    diagnostic.attachNote(other->location) << "the other argument";
    return failure();
  }
  memory.write(range, {argument, argument.getLoc()});
  return success();
}

/// Checks that the argument of another program has the step's offset, and that
/// an evaluation does not overwrite it.
LogicalResult BlockChecker::checkSamePlace(BlockArgument argument,
                                           const PlanArguments &ofStep) {
  if (function.getArgAttr(argument.getArgNumber(), attr::update) &&
      isOfEvaluation(cast<ModuleOp>(function->getParentOp())))
    return function.emitError("argument ")
           << argument.getArgNumber() << " is overwritten by an evaluation";
  BlockArgument same = ofStep.find(argument);
  std::optional<int64_t> offset = getPlannedOffset(argument);
  if (same && offset && offset == getPlannedOffset(same)) {
    memory.write({*offset, *offset + getLocalBytes(argument.getType())},
                 {argument, argument.getLoc()});
    return success();
  }
  InFlightDiagnostic diagnostic = function.emitError("argument ");
  diagnostic << argument.getArgNumber() << " of another program lies at byte "
             << offset.value_or(callersMemory)
             << ", expected the place of the training step's argument";
  if (same)
    diagnostic.attachNote(same.getLoc())
        << "which lies at byte "
        << getPlannedOffset(same).value_or(callersMemory);
  return failure();
}

/// Checks the end of a plan: its arguments or their new values are in place,
/// and after another program also all other arguments of the step.
LogicalResult BlockChecker::checkKept() {
  Operation &end = *function.front().getTerminator();
  llvm::DenseSet<Value> gone;
  for (auto [value, argument] : getReplacedArguments(function, classes))
    if (getPlannedOffset(value) == getPlannedOffset(argument))
      gone.insert(argument);
  for (BlockArgument argument : function.getArguments())
    if (!gone.contains(argument) && failed(read(end, argument)))
      return failure();
  if (!step)
    return success();
  PlanArguments own(function);
  for (BlockArgument argument : step.getArguments())
    if (!own.find(argument) && failed(read(end, argument, argument)))
      return failure();
  return success();
}

/// Checks that a result does not overlap an operand in another buffer.
LogicalResult BlockChecker::checkApart(OpResult result, ByteRange range) {
  Operation *op = result.getOwner();
  for (Value operand : op->getOperands())
    if (std::optional<int64_t> begin = getPlannedOffset(operand)) {
      int64_t end = *begin + getLocalBytes(operand.getType());
      if (*begin < range.end && range.begin < end &&
          classes.getRoot(operand) != result)
        return op->emitError("result ")
               << result.getResultNumber() << " in bytes " << range.begin
               << " to " << range.end << " overlaps an operand in bytes "
               << *begin << " to " << end;
    }
  return success();
}

LogicalResult BlockChecker::write(OpResult result) {
  Operation *op = result.getOwner();
  Value root = classes.getRoot(result);
  std::optional<int64_t> offset = getPlannedOffset(result);
  bool expected = homes.get(result).kind == MemoryHome::Local;
  if (isa<ConstantOp>(op))
    return success();
  if (offset.has_value() != expected)
    return op->emitError("result ")
           << result.getResultNumber()
           << (expected ? " has no offset; plan memory first"
                        : " has an offset, but is the caller's memory");
  if (!offset)
    return success();
  ByteRange range{*offset, *offset + getLocalBytes(result.getType())};
  if (root != result) { // views and updates lie where their root does
    std::optional<int64_t> base = getPlannedOffset(root);
    if (base && *base + classes.getOffset(result) == *offset)
      return success();
    return op->emitError("result ")
           << result.getResultNumber() << " lies at byte " << *offset
           << ", expected the memory of the operand that it aliases";
  }
  if (failed(checkInside(op->getLoc(), range)))
    return failure();
  // Operands are read while results are written, so results must not overlap
  // them.
  auto isOperand = [&](Value owner) { return operands.contains(owner); };
  if (memory.find(range, isOperand) && failed(checkApart(result, range)))
    return failure();
  if (frame && frame->begin < range.end && range.begin < frame->end)
    return op->emitError("result ")
           << result.getResultNumber() << " in bytes " << range.begin << " to "
           << range.end << " overlaps the frame of the run, bytes "
           << frame->begin << " to " << frame->end;
  memory.write(range, {root, op->getLoc()});
  return success();
}

LogicalResult BlockChecker::checkFrame(RunOp run) {
  auto offset = run->getAttrOfType<IntegerAttr>(attr::frameOffset);
  if (!offset)
    return run.emitError("has no '")
           << attr::frameOffset << "'; plan memory first";
  ByteRange range{offset.getInt(), offset.getInt() + getFrameBytes(run)};
  if (failed(checkInside(run.getLoc(), range)))
    return failure();
  memory.write(range, {Value(), run.getLoc()});
  frame = range;
  return success();
}

LogicalResult BlockChecker::checkAdjacent() {
  auto groups = getAdjacentRoots(function, classes, homes);
  if (failed(groups))
    return failure();
  for (ArrayRef<Value> group : *groups) {
    std::optional<int64_t> expected = getPlannedOffset(group.front());
    if (!expected)
      continue;
    for (Value value : group) {
      if (getPlannedOffset(value) != expected)
        return emitError(value.getLoc())
               << "an operand of a collective lies at byte "
               << getPlannedOffset(value).value_or(callersMemory)
               << ", expected byte " << *expected
               << ", next to the operand before it";
      *expected += alignMemory(getLocalBytes(value.getType()));
    }
  }
  return success();
}

LogicalResult BlockChecker::check() {
  FailureOr<InFlight> inFlight = getInFlight(function, classes);
  if (failed(inFlight))
    return failure();
  StringRef sizeName = isPlan ? attr::arenaBytes : attr::frameBytes;
  auto bytes = function->getAttrOfType<IntegerAttr>(sizeName);
  if (!bytes)
    return function.emitError("has no '") << sizeName << "'; plan memory first";
  size = bytes.getInt();
  hostSize = getHostBytes(step ? step : function);

  // Arguments of a plan keep their content between steps.
  if (isPlan)
    for (BlockArgument argument : (step ? step : function).getArguments())
      if (failed(writeArgument(argument)))
        return failure();
  if (step) {
    PlanArguments ofStep(step);
    for (BlockArgument argument : function.getArguments())
      if (failed(checkSamePlace(argument, ofStep)))
        return failure();
  }
  for (Operation &op : function.front()) {
    frame.reset();
    operands.clear();
    for (Value operand : op.getOperands()) {
      if (failed(read(op, operand)))
        return failure();
      operands.insert(classes.getRoot(operand));
    }
    if (auto run = dyn_cast<RunOp>(op)) {
      if (failed(checkFrame(run)))
        return failure();
      // The frame must not overlap an operand.
      for (Value operand : op.getOperands())
        if (failed(read(op, operand)))
          return failure();
    }
    for (OpResult result : op.getResults())
      if (failed(write(result)))
        return failure();
    // Buffers of a transfer must be intact until its wait.
    for (Value root : inFlight->endedBy.lookup(&op))
      if (failed(read(op, root)))
        return failure();
  }
  if (isPlan && failed(checkKept()))
    return failure();
  return checkAdjacent();
}

} // namespace

/// Whether an op may access host memory: kernels read and write it, gathers and
/// copies move it. Library calls are excluded because they would read it
/// repeatedly.
static bool reachesHostMemory(Operation *op) {
  return isa<LaunchOp, AllGatherOp, CopyOp, WaitOp, func::ReturnOp>(op) ||
         isView(op);
}

/// Checks the uses of arguments in host memory, their views and new values.
static LogicalResult checkHostMemory(ModuleOp stage, func::FuncOp plan) {
  llvm::DenseSet<Value> arguments = getHostArguments(plan);
  if (arguments.empty())
    return success();
  for (auto function : stage.getOps<func::FuncOp>()) {
    AliasClasses classes(function.front());
    for (BlockArgument root : function.getArguments()) {
      if (!arguments.contains(root))
        continue;
      for (Value member : classes.getMembers(root))
        for (Operation *user : member.getUsers())
          if (!isa<RunOp>(user) && !reachesHostMemory(user)) {
            InFlightDiagnostic diagnostic = user->emitOpError(
                "touches host memory, which only kernels, gathers and "
                "copies access");
            diagnostic.attachNote(root.getLoc()) << "the value there";
            return failure();
          }
    }
  }
  return success();
}

/// `step` is the plan that shares the arena of another program; null for a
/// step.
static LogicalResult checkStage(ModuleOp stage, func::FuncOp step) {
  for (auto function : stage.getOps<func::FuncOp>()) {
    if (function.isExternal())
      return function.emitError("has no body to check");
    bool isPlan = function.getName() == planName;
    if (failed(BlockChecker(function, isPlan ? step : func::FuncOp()).check()))
      return failure();
  }
  auto plan = stage.lookupSymbol<func::FuncOp>(planName);
  return plan ? checkHostMemory(stage, plan) : success();
}

LogicalResult dtc::verifyMemory(ModuleOp module) {
  FailureOr<SmallVector<Stages>> programs = getPrograms(module);
  if (failed(programs))
    return failure();
  const Stages &stages = programs->front();
  auto check = [&](size_t number) -> LogicalResult {
    if (failed(checkStage(stages[number], {})))
      return failure();
    func::FuncOp step = getPlan(stages[number]);
    for (const Stages &others : ArrayRef(*programs).drop_front())
      if (!step || failed(checkStage(others[number], step)))
        return failure();
    return success();
  };
  return failableParallelForEach(module.getContext(),
                                 llvm::seq<size_t>(0, stages.size()), check);
}
