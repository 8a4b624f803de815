//===- PoisonMemory.cpp - fill dead memory with NaN -----------------------===//
//
// For tests: an op that reads dead memory, or leaves part of a result
// unwritten, changes the numbers.
//
//===----------------------------------------------------------------------===//

#include "ByteRange.h"
#include "dtc/Memory/MemoryPlan.h"
#include "dtc/Memory/Passes.h"
#include "dtc/Plan/Skeleton.h"
#include "llvm/ADT/MapVector.h"

namespace dtc {
#define GEN_PASS_DEF_POISONMEMORY
#include "dtc/Memory/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

namespace {

/// Poisons one block: all memory without initial content when it begins, then
/// each buffer after the last op that needs it.
class BlockPoison {
public:
  /// `step` is the plan of the step if `function` is that of another program.
  BlockPoison(func::FuncOp function, func::FuncOp step)
      : function(function), step(step), isPlan(function.getName() == planName),
        classes(function.front()), homes(function, classes) {}

  LogicalResult run();

private:
  void add(Operation *after, ByteRange range);
  std::optional<ByteRange> getRange(Value value);
  void poisonStart();

  func::FuncOp function, step;
  bool isPlan;
  AliasClasses classes;
  MemoryHomes homes;
};

} // namespace

/// Poisons a range after an op; null means the start of the block.
void BlockPoison::add(Operation *after, ByteRange range) {
  if (range.begin == range.end)
    return;
  auto builder = OpBuilder::atBlockBegin(&function.front());
  if (after)
    builder.setInsertionPointAfter(after);
  PoisonOp::create(builder, after ? after->getLoc() : function.getLoc(),
                   /*offset=*/range.begin, /*bytes=*/range.end - range.begin);
}

std::optional<ByteRange> BlockPoison::getRange(Value value) {
  std::optional<int64_t> offset = getPlannedOffset(value);
  if (!offset)
    return std::nullopt;
  return ByteRange{*offset, *offset + getLocalBytes(value.getType())};
}

/// A plan begins with its arguments; other programs, with all of the step's.
void BlockPoison::poisonStart() {
  SmallVector<ByteRange> kept;
  for (BlockArgument argument : (step ? step : function).getArguments())
    if (std::optional<ByteRange> range = getRange(argument);
        range && !isInHostMemory(range->begin))
      kept.push_back(*range);
  llvm::sort(kept, [](ByteRange a, ByteRange b) { return a.begin < b.begin; });
  auto bytes = function->getAttrOfType<IntegerAttr>(attr::arenaBytes);
  kept.push_back({bytes.getInt(), bytes.getInt()});
  int64_t end = 0;
  for (ByteRange range : kept) {
    if (end < range.begin)
      add(nullptr, {end, range.begin});
    end = std::max(end, range.end);
  }
}

LogicalResult BlockPoison::run() {
  FailureOr<InFlight> inFlight = getInFlight(function, classes);
  if (failed(inFlight))
    return failure();
  llvm::DenseMap<Value, BlockArgument> replaced;
  if (isPlan)
    replaced = getReplacedArguments(function, classes);
  llvm::DenseSet<Value> freed; // arguments replaced by a new value
  for (auto [value, argument] : replaced)
    if (getPlannedOffset(value) == getPlannedOffset(argument))
      freed.insert(argument);

  llvm::MapVector<Value, Operation *> lastNeeded; // by root
  auto need = [&](Value root, Operation *op) {
    if (isa<BlockArgument>(root) ? freed.contains(root)
                                 : homes.get(root).kind == MemoryHome::Local)
      lastNeeded[root] = op;
  };
  for (Operation &op : function.front()) {
    for (Value operand : op.getOperands())
      need(classes.getRoot(operand), &op);
    for (Value root : inFlight->endedBy.lookup(&op))
      need(root, &op);
    for (Value result : op.getResults())
      need(classes.getRoot(result), &op);
  }
  Operation *end = function.front().getTerminator();
  for (auto [root, op] : lastNeeded)
    if (std::optional<ByteRange> range = getRange(root); range && op != end)
      add(op, *range);
  for (Operation &op : function.front()) {
    if (isa<LaunchOp>(op))
      op.setAttr(attr::poisonScratch, UnitAttr::get(op.getContext()));
    if (auto run = dyn_cast<RunOp>(op)) {
      int64_t begin =
          run->getAttrOfType<IntegerAttr>(attr::frameOffset).getInt();
      add(run, {begin, begin + getFrameBytes(run)});
    }
  }
  if (isPlan)
    poisonStart();
  return success();
}

namespace {

struct PoisonMemoryPass : dtc::impl::PoisonMemoryBase<PoisonMemoryPass> {
  void runOnOperation() override {
    FailureOr<SmallVector<Stages>> programs = getPrograms(getOperation());
    if (failed(programs))
      return signalPassFailure();
    const Stages &steps = programs->front();
    for (const Stages &stages : *programs)
      for (size_t number = 0; number < stages.size(); ++number) {
        func::FuncOp step;
        if (&stages != &steps)
          step = getPlan(steps[number]);
        ModuleOp stage = stages[number];
        for (auto function : stage.getOps<func::FuncOp>())
          if (failed(BlockPoison(function, step).run()))
            return signalPassFailure();
      }
  }
};

} // namespace
