//===- Slots.cpp - slots of transfers in flight ---------------------------===//
//
// Walks through a plan in order. A function is read once: a transfer that it
// both starts and ends has the same slot in each of its runs, below the slots
// of transfers that it leaves to its caller.
//
//===----------------------------------------------------------------------===//

#include "dtc/Plan/Slots.h"
#include "dtc/Plan/Aliases.h"
#include "dtc/Plan/Skeleton.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/SetVector.h"
#include <map>

using namespace mlir;
using namespace dtc;

/// The key of a transfer in one function, from a value that it makes or that a
/// wait names. It is a send's own result, as two sends may read one buffer, or
/// the root of the buffer that a collective writes.
static Value getTransfer(Value value, const AliasClasses &classes) {
  return value.getDefiningOp<SendOp>() ? value : classes.getRoot(value);
}

namespace {

/// Free slots from `first` on; the lowest one is taken first.
class FreeList {
public:
  explicit FreeList(int64_t first) : first(first) {}
  int64_t take() {
    int free = taken.find_first_unset();
    if (free < 0) {
      free = taken.size();
      taken.resize(free + 1);
    }
    taken.set(free);
    return first + free;
  }
  void release(int64_t slot) { taken.reset(slot - first); }

private:
  int64_t first;
  llvm::BitVector taken;
};

/// Transfers that a function starts and its caller ends, and vice versa.
struct Callee {
  struct Left {
    Operation *start;
    SmallVector<unsigned> results; ///< results of the function in one buffer
  };
  SmallVector<Left> left;
  struct Awaited {
    Operation *wait;
    unsigned argument;
  };
  SmallVector<Awaited> awaited;
};

class Numbering {
public:
  explicit Numbering(llvm::DenseMap<Operation *, int64_t> &slots)
      : slots(slots) {}
  void number(func::FuncOp plan);
  const Callee &read(func::FuncOp function);

private:
  llvm::DenseMap<Operation *, int64_t> &slots;
  std::map<Operation *, Callee> callees;
};

} // namespace

static bool isMessage(Operation *op) { return isa<SendOp, RecvOp>(op); }

const Callee &Numbering::read(func::FuncOp function) {
  auto [it, isNew] = callees.try_emplace(function);
  Callee &callee = it->second;
  if (!isNew)
    return callee;
  AliasClasses classes(function.front());
  llvm::DenseMap<Value, Operation *> inFlight;
  llvm::DenseMap<Operation *, Operation *> startOf; // by wait
  llvm::SetVector<Operation *> left;
  for (Operation &op : function.front()) {
    if (isStart(&op)) {
      left.insert(&op);
      for (Value result : op.getResults())
        inFlight[getTransfer(result, classes)] = &op;
    }
    auto wait = dyn_cast<WaitOp>(op);
    if (!wait)
      continue;
    Value transfer = getTransfer(wait.getX(), classes);
    if (Operation *start = inFlight.lookup(transfer); left.remove(start))
      startOf[wait] = start;
    else if (auto argument = dyn_cast<BlockArgument>(transfer))
      callee.awaited.push_back({wait, argument.getArgNumber()});
  }
  FreeList own(firstCollectiveSlot);
  for (Operation &op : function.front()) {
    if (isStart(&op) && !left.contains(&op))
      slots[&op] = own.take();
    if (Operation *start = startOf.lookup(&op)) {
      slots[&op] = slots.lookup(start);
      own.release(slots.lookup(start));
    }
  }
  Operation *end = function.front().getTerminator();
  for (Operation *start : left) {
    callee.left.push_back({start, {}});
    for (OpOperand &returned : end->getOpOperands())
      if (inFlight.lookup(getTransfer(returned.get(), classes)) == start)
        callee.left.back().results.push_back(returned.getOperandNumber());
  }
  return callee;
}

void Numbering::number(func::FuncOp plan) {
  AliasClasses classes(plan.front());
  FreeList messages(0), collectives(firstPlanSlot);
  llvm::DenseMap<Value, Operation *> inFlight; // op that started the transfer
  auto start = [&](Operation *op, ValueRange made) {
    slots[op] = isMessage(op) ? messages.take() : collectives.take();
    for (Value value : made)
      inFlight[getTransfer(value, classes)] = op;
  };
  auto end = [&](Operation *wait, Value awaited) {
    auto it = inFlight.find(getTransfer(awaited, classes));
    if (it == inFlight.end())
      return;
    Operation *started = it->second;
    int64_t slot = slots.lookup(started);
    slots[wait] = slot;
    (isMessage(started) ? messages : collectives).release(slot);
    inFlight.erase(it); // the proof reports a second wait as an error
  };
  for (Operation &op : plan.front()) {
    if (isStart(&op))
      start(&op, op.getResults());
    if (auto wait = dyn_cast<WaitOp>(op))
      end(wait, wait.getX());
    auto run = dyn_cast<RunOp>(op);
    if (!run)
      continue;
    const Callee &callee = read(getCallee(run));
    for (const Callee::Awaited &awaited : callee.awaited)
      end(awaited.wait, run.getInputs()[awaited.argument]);
    for (const Callee::Left &left : callee.left)
      start(left.start, llvm::map_to_vector(left.results, [&](unsigned i) {
              return Value(run.getResult(i));
            }));
  }
}

void Slots::add(ModuleOp stage) {
  Numbering numbering(slots);
  for (auto function : stage.getOps<func::FuncOp>()) {
    if (function.isExternal())
      continue;
    if (function.getName() == planName)
      numbering.number(function);
    else
      numbering.read(function);
  }
}
