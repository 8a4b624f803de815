//===- KernelGroups.cpp - which ops of a block form kernels ---------------===//
//
// Greedy, in program order: an op joins the kernels that it shares values with,
// the latest first, if rows agree and no way leads from one to the other
// through something outside.
//
//===----------------------------------------------------------------------===//

#include "KernelGroups.h"
#include "dtc/Dialect/Dialect.h"
#include "dtc/Schedule/Aliases.h"
#include "dtc/Schedule/KernelOps.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace dtc;

/// A sum of a product that nothing else needs: the product accumulates itself.
static bool isAccumulatingProduct(Operation *op) {
  auto accumulate = dyn_cast<AccumulateOp>(op);
  return accumulate && accumulate.getX().hasOneUse() &&
         accumulate.getX().getDefiningOp<MatMulOp>();
}

static bool isKernelOp(Operation *op) {
  return isa<KernelOpInterface>(op) && !isView(op) &&
         !isAccumulatingProduct(op);
}

/// Operands that results of the op overwrite.
static SmallVector<Value> getOverwritten(Operation *op) {
  SmallVector<Value> operands;
  if (auto alias = dyn_cast<AliasInterface>(op))
    for (unsigned i = 0; i < op->getNumResults(); ++i)
      if (std::optional<Alias> a = alias.getAlias(i);
          a && a->kind == AliasKind::Update)
        operands.push_back(op->getOperand(a->operand));
  return operands;
}

/// Whether a kernel may have both ops: rows agree, and neither needs the other
/// to be complete.
static bool canShareKernel(Operation *a, Operation *b) {
  KernelRole roleA = cast<KernelOpInterface>(a).getKernelRole();
  KernelRole roleB = cast<KernelOpInterface>(b).getKernelRole();
  if (roleA.fusion == Fusion::Alone || roleB.fusion == Fusion::Alone ||
      roleA.getRows() != roleB.getRows())
    return false;
  auto needsComplete = [](Operation *producer, const KernelRole &role,
                          Operation *consumer, const KernelRole &consumerRole) {
    for (auto [index, operand] : llvm::enumerate(consumer->getOperands()))
      if (operand.getDefiningOp() == producer &&
          (role.fusion == Fusion::Last ||
           llvm::is_contained(consumerRole.lookedUp, index)))
        return true;
    return false;
  };
  // What an op overwrites comes from outside, and no other op reads it.
  auto overwrites = [](Operation *op, Operation *other) {
    return llvm::any_of(getOverwritten(op), [&](Value value) {
      return value.getDefiningOp() == other ||
             llvm::is_contained(other->getOperands(), value);
    });
  };
  return !needsComplete(a, roleA, b, roleB) &&
         !needsComplete(b, roleB, a, roleA) && !overwrites(a, b) &&
         !overwrites(b, a);
}

/// Whether a kernel of both ops saves memory traffic. Shared scalars do not.
static bool isConnected(Operation *a, Operation *b) {
  auto reads = [](Operation *op, Operation *producer) {
    return llvm::any_of(op->getOperands(), [&](Value operand) {
      return operand.getDefiningOp() == producer;
    });
  };
  return reads(a, b) || reads(b, a) ||
         llvm::any_of(a->getOperands(), [&](Value operand) {
           return llvm::is_contained(b->getOperands(), operand) &&
                  getLocalType(operand.getType()).getNumElements() > 1;
         });
}

namespace {

using UnitSet = llvm::SmallSetVector<unsigned, 8>;

class Grouping {
public:
  explicit Grouping(Block &block);
  std::vector<KernelUnit> getOrderedUnits() const;

private:
  void addOp(Operation *op);
  bool canMerge(unsigned a, unsigned b) const;
  void merge(unsigned from, unsigned into);
  bool isReachable(unsigned target, const UnitSet &from) const;

  /// A unit without ops was merged into another.
  std::vector<KernelUnit> units;
  /// Units that each unit needs the results of, or must follow.
  std::vector<UnitSet> predecessors;
  DenseMap<Operation *, unsigned> unitOf;
  std::optional<unsigned> lastEffect;
};

} // namespace

Grouping::Grouping(Block &block) {
  for (Operation &op : block.without_terminator()) {
    bool onlyInKernels =
        isa<ConstantOp>(op) && llvm::all_of(op.getUsers(), isKernelOp);
    if (!onlyInKernels)
      addOp(&op);
  }
}

/// Whether a way through predecessors leads from some unit back to `target`.
bool Grouping::isReachable(unsigned target, const UnitSet &from) const {
  llvm::SetVector<unsigned> seen(from.begin(), from.end());
  for (unsigned i = 0; i < seen.size(); ++i) {
    if (seen[i] == target)
      return true;
    seen.insert_range(predecessors[seen[i]]);
  }
  return false;
}

bool Grouping::canMerge(unsigned a, unsigned b) const {
  if (!units[a].isKernel || !units[b].isKernel)
    return false;
  bool areConnected = false;
  for (Operation *x : units[a].ops)
    for (Operation *y : units[b].ops) {
      if (!canShareKernel(x, y))
        return false;
      areConnected |= isConnected(x, y);
    }
  if (!areConnected)
    return false;
  // No way between them through a third.
  UnitSet beforeA = predecessors[a], beforeB = predecessors[b];
  beforeA.remove(b);
  beforeB.remove(a);
  return !isReachable(b, beforeA) && !isReachable(a, beforeB);
}

void Grouping::merge(unsigned from, unsigned into) {
  for (Operation *op : units[from].ops)
    unitOf[op] = into;
  llvm::append_range(units[into].ops, units[from].ops);
  llvm::sort(units[into].ops,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  predecessors[into].insert_range(predecessors[from]);
  units[from] = KernelUnit();
  predecessors[from].clear();
  for (UnitSet &before : predecessors)
    if (before.remove(from))
      before.insert(into);
  predecessors[into].remove(into);
}

void Grouping::addOp(Operation *op) {
  UnitSet before;
  for (Value operand : op->getOperands())
    if (auto it = unitOf.find(operand.getDefiningOp()); it != unitOf.end())
      before.insert(it->second);
  unsigned unit = units.size();
  // Communication keeps its order.
  if (!isMemoryEffectFree(op)) {
    if (lastEffect)
      before.insert(*lastEffect);
    lastEffect = unit;
  }
  units.push_back({{op}, isKernelOp(op)});
  predecessors.push_back(std::move(before));
  unitOf[op] = unit;
  for (unsigned other = unit; other-- > 0;)
    if (canMerge(other, unit)) {
      merge(unit, other);
      unit = other;
    }
}

/// The units, each as early as its first op allows.
std::vector<KernelUnit> Grouping::getOrderedUnits() const {
  std::vector<KernelUnit> ordered;
  std::vector<bool> done(units.size());
  std::function<void(unsigned)> visit = [&](unsigned unit) {
    if (done[unit])
      return;
    done[unit] = true;
    SmallVector<unsigned> before(predecessors[unit].getArrayRef());
    llvm::sort(before);
    llvm::for_each(before, visit);
    if (!units[unit].ops.empty())
      ordered.push_back(units[unit]);
  };
  for (unsigned unit = 0; unit < units.size(); ++unit)
    visit(unit);
  return ordered;
}

std::vector<KernelUnit> dtc::groupKernels(Block &block) {
  return Grouping(block).getOrderedUnits();
}
