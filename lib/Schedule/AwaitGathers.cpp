//===- AwaitGathers.cpp - wait for parameters where they are used ---------===//
//
// What a step gathers once, for all of its micro-batches, is on its way while
// the first of them computes: the prologue starts the gathers, in the order in
// which they are needed, and the first run that reads a parameter waits for it
// where it does, in a function of its own.
//
//===----------------------------------------------------------------------===//

#include "dtc/Schedule/Aliases.h"
#include "dtc/Schedule/MemoryPlan.h"
#include "dtc/Schedule/Passes.h"
#include "dtc/Schedule/Phase.h"
#include "dtc/Schedule/Skeleton.h"
#include "llvm/ADT/MapVector.h"

namespace dtc {
#define GEN_PASS_DEF_AWAITGATHERS
#include "dtc/Schedule/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

namespace {

/// A gather of the prologue, and who needs it first.
struct Gather {
  AllGatherOp op;
  size_t number;
  Value result;               ///< in the plan
  Operation *reader;          ///< in the plan
  Operation *inner = nullptr; ///< what reads it in the forward pass it runs
  int64_t slot = -1;
};

} // namespace

/// What reads a value of the plan first in a function that is run with it; null
/// if nothing does.
static Operation *findReader(RunOp run, func::FuncOp function, Value value) {
  SmallVector<Value> arguments;
  for (auto [i, input] : llvm::enumerate(run.getInputs()))
    if (input == value)
      arguments.push_back(function.getArgument(i));
  SmallVector<Operation *> readers = getReaders(arguments);
  return readers.empty() ? nullptr : readers.front();
}

/// Whether a gather reads the caller's memory, and its result is only returned.
static bool canStart(AllGatherOp gather, const AliasClasses &classes) {
  Operation *end = gather->getBlock()->getTerminator();
  return isa<BlockArgument>(gather.getX()) && !crossesStages(gather) &&
         isInOrder(gather.getX(), gather.getDim()) &&
         llvm::all_of(getReaders(gather.getY()),
                      [&](Operation *reader) { return reader == end; }) &&
         llvm::count_if(end->getOperands(), [&](Value value) {
           return classes.getRoot(value) == gather.getY();
         }) == 1;
}

/// What the runs of a prologue gather, in the order in which it is needed.
static SmallVector<Gather> collect(func::FuncOp plan) {
  SmallVector<Gather> gathers;
  for (auto run : plan.getOps<RunOp>()) {
    std::optional<Phase> phase = Phase::parse(run.getCallee());
    if (!phase || phase->kind != Phase::Prologue)
      continue;
    func::FuncOp prologue = getCallee(run);
    AliasClasses classes(prologue.front());
    for (OpOperand &returned :
         prologue.front().getTerminator()->getOpOperands())
      if (auto op = returned.get().getDefiningOp<AllGatherOp>();
          op && canStart(op, classes)) {
        Value result = run.getResult(returned.getOperandNumber());
        SmallVector<Operation *> readers = getReaders(result);
        if (!readers.empty())
          gathers.push_back({op, gathers.size(), result, readers.front()});
      }
  }
  for (Gather &gather : gathers) {
    auto run = dyn_cast<RunOp>(gather.reader);
    std::optional<Phase> phase =
        run ? Phase::parse(run.getCallee()) : std::nullopt;
    if (phase && phase->kind == Phase::Forward)
      gather.inner = findReader(run, getCallee(run), gather.result);
  }
  llvm::sort(gathers, [](const Gather &a, const Gather &b) {
    if (a.reader != b.reader)
      return a.reader->isBeforeInBlock(b.reader);
    if (a.inner && b.inner && a.inner != b.inner)
      return a.inner->isBeforeInBlock(b.inner);
    return a.number < b.number;
  });
  return gathers;
}

/// The function of a first run waits for what it needs.
static void awaitInside(RunOp run, ArrayRef<Gather> gathers) {
  func::FuncOp callee = getCallee(run);
  func::FuncOp first = callee.clone();
  Phase phase = *Phase::parse(callee.getName());
  phase.isFirst = true;
  first.setName(phase.getName());
  callee->getBlock()->getOperations().insertAfter(callee->getIterator(), first);
  run.setCalleeAttr(FlatSymbolRefAttr::get(first.getNameAttr()));
  for (Gather gather : gathers) {
    auto input = llvm::find(run.getInputs(), gather.result);
    OpBuilder builder(findReader(run, first, gather.result));
    WaitOp::create(builder, gather.op.getLoc(),
                   first.getArgument(input - run.getInputs().begin()),
                   gather.slot);
  }
  auto plan = run->getParentOfType<func::FuncOp>();
  if (llvm::none_of(plan.getOps<RunOp>(), [&](RunOp other) {
        return other.getCallee() == callee.getName();
      }))
    callee.erase();
}

static void await(func::FuncOp plan) {
  SmallVector<Gather> gathers = collect(plan);
  // Those that are needed first have least to hide behind: where slots do not
  // do for all, these stay as they are.
  size_t numSlots = endCollectiveSlot - firstPlanSlot;
  if (gathers.size() > numSlots)
    gathers.erase(gathers.begin(), gathers.end() - numSlots);
  Builder attributes(plan.getContext());
  llvm::MapVector<Operation *, SmallVector<Gather>> firstRuns;
  for (auto [i, gather] : llvm::enumerate(gathers)) {
    gather.slot = firstPlanSlot + i;
    gather.op->setAttr(attr::slot, attributes.getI64IntegerAttr(gather.slot));
    // Behind all that the prologue does itself: collectives of a group end in
    // the order in which they begin.
    gather.op->moveBefore(gather.op->getBlock()->getTerminator());
    if (gather.inner) {
      firstRuns[gather.reader].push_back(gather);
      continue;
    }
    OpBuilder builder(gather.reader);
    WaitOp::create(builder, gather.op.getLoc(), gather.result, gather.slot);
  }
  for (auto &[run, needed] : firstRuns)
    awaitInside(cast<RunOp>(run), needed);
}

namespace {

struct AwaitGathersPass : dtc::impl::AwaitGathersBase<AwaitGathersPass> {
  void runOnOperation() override {
    FailureOr<SmallVector<Stages>> programs = getPrograms(getOperation());
    if (failed(programs))
      return signalPassFailure();
    for (const Stages &stages : *programs) {
      FailureOr<SmallVector<func::FuncOp>> plans = getScheduledPlans(stages);
      if (failed(plans))
        return signalPassFailure();
      llvm::for_each(*plans, await);
    }
  }
};

} // namespace
