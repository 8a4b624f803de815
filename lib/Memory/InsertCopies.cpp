//===- InsertCopies.cpp - copy values before they are overwritten ---------===//
//
// An op may overwrite an operand whose memory is still needed under another
// name. For example, two parameters whose gradients are one value up to a
// reshape are reduced twice. This pass copies the old value first.
//
//===----------------------------------------------------------------------===//

#include "dtc/Memory/Passes.h"
#include "dtc/Plan/Aliases.h"
#include "dtc/Plan/Skeleton.h"

namespace dtc {
#define GEN_PASS_DEF_INSERTCOPIES
#include "dtc/Memory/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

namespace {

/// Uses of a value that must read a copy of it.
struct Conflict {
  Value value;
  SmallVector<OpOperand *> uses;
};

/// The last readers of the values in a buffer that an op overwrites.
struct Readers {
  size_t numValues = 0; ///< values already examined
  Operation *last = nullptr;
};

class Finder {
public:
  explicit Finder(Block &block) : classes(block) {}

  std::optional<Conflict> find(OpResult result);

private:
  AliasClasses classes;
  llvm::DenseMap<Value, Readers> readersOf; ///< by root
};

} // namespace

/// The first value that needs a copy before an op writes the result.
std::optional<Conflict> Finder::find(OpResult result) {
  std::optional<unsigned> number = classes.getUpdatedOperand(result);
  if (!number)
    return std::nullopt;
  Operation *op = result.getOwner();
  OpOperand &overwritten = op->getOpOperand(*number);
  Value root = classes.getRoot(result);
  if (root.getDefiningOp<ConstantOp>())
    return Conflict{overwritten.get(), {&overwritten}};

  // Skip values that the op makes itself: it may overwrite two operands.
  ArrayRef<Value> members = classes.getMembers(root);
  Readers &readers = readersOf[root];
  for (; members[readers.numValues].getDefiningOp() != op; ++readers.numValues)
    for (Operation *user : members[readers.numValues].getUsers())
      if (!readers.last || readers.last->isBeforeInBlock(user))
        readers.last = user;
  auto isTooLate = [&](OpOperand &use) {
    Operation *user = use.getOwner();
    return user == op ? &use != &overwritten : op->isBeforeInBlock(user);
  };
  bool readsTwice = llvm::count_if(op->getOperands(), [&](Value operand) {
                      return classes.getRoot(operand) == root;
                    }) > 1;
  if (!readsTwice && !op->isBeforeInBlock(readers.last))
    return std::nullopt;
  for (Value member : members.take_front(readers.numValues)) {
    Conflict conflict{member, {}};
    for (OpOperand &use : member.getUses())
      if (isTooLate(use))
        conflict.uses.push_back(&use);
    if (!conflict.uses.empty())
      return conflict;
  }
  return std::nullopt;
}

/// Resolves the first conflict. Returns whether there was one.
static bool insertCopy(Block &block) {
  Finder finder(block);
  for (Operation &op : block)
    for (OpResult result : op.getResults())
      if (std::optional<Conflict> conflict = finder.find(result)) {
        OpBuilder builder(&op);
        auto copy = CopyOp::create(builder, conflict->value.getLoc(),
                                   conflict->value.getType(), conflict->value);
        for (OpOperand *use : conflict->uses)
          use->set(copy);
        return true;
      }
  return false;
}

/// Resolves all conflicts. Returns whether there was one.
static bool insertCopies(func::FuncOp function) {
  bool changed = false;
  while (!function.isExternal() && insertCopy(function.front()))
    changed = true;
  return changed;
}

namespace {

struct InsertCopies : dtc::impl::InsertCopiesBase<InsertCopies> {
  void runOnOperation() override {
    FailureOr<SmallVector<Stages>> programs = getPrograms(getOperation());
    if (failed(programs))
      return signalPassFailure();
    for (const Stages &stages : *programs)
      for (ModuleOp stage : stages) {
        func::FuncOp plan = getPlan(stage);
        if (!plan)
          return signalPassFailure();
        for (auto function : stage.getOps<func::FuncOp>())
          if (function != plan && insertCopies(function))
            annotateUpdates(function);
        insertCopies(plan);
      }
  }
};

} // namespace
