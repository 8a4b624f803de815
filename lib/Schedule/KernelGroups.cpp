//===- KernelGroups.cpp - which ops of a block form kernels ---------------===//
//
// Greedy, in program order: an op joins the latest kernel that it shares values
// with, that has the same rows, and from which no way leads to it through
// something outside.
//
//===----------------------------------------------------------------------===//

#include "KernelGroups.h"
#include "dtc/Dialect/Dialect.h"
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
  return isa<KernelOpInterface>(op) && !isAccumulatingProduct(op);
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

namespace {

class Grouping {
public:
  explicit Grouping(Block &block);
  std::vector<KernelUnit> getOrderedUnits() const;

private:
  void addOp(Operation *op);
  bool canJoin(Operation *op, const KernelRole &role, unsigned unit) const;
  bool isReachable(unsigned from, const llvm::SmallSetVector<unsigned, 8> &to)
      const;
  llvm::SmallSetVector<unsigned, 8> getProducers(Operation *op) const;

  std::vector<KernelUnit> units;
  /// Units that each unit needs the results of, or must follow.
  std::vector<llvm::SmallSetVector<unsigned, 8>> predecessors;
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

llvm::SmallSetVector<unsigned, 8> Grouping::getProducers(Operation *op) const {
  llvm::SmallSetVector<unsigned, 8> producers;
  for (Value operand : op->getOperands())
    if (auto it = unitOf.find(operand.getDefiningOp()); it != unitOf.end())
      producers.insert(it->second);
  return producers;
}

/// Whether a way through predecessors leads from some unit back to `target`.
bool Grouping::isReachable(
    unsigned target, const llvm::SmallSetVector<unsigned, 8> &from) const {
  llvm::SetVector<unsigned> seen(from.begin(), from.end());
  for (unsigned i = 0; i < seen.size(); ++i) {
    if (seen[i] == target)
      return true;
    seen.insert_range(predecessors[seen[i]]);
  }
  return false;
}

bool Grouping::canJoin(Operation *op, const KernelRole &role,
                       unsigned unit) const {
  const KernelUnit &group = units[unit];
  if (!group.isKernel)
    return false;
  SmallVector<Value> overwritten = getOverwritten(op);
  bool isConnected = false;
  for (Operation *member : group.ops) {
    KernelRole other = cast<KernelOpInterface>(member).getKernelRole();
    if (other.fusion == Fusion::Alone || other.getRows() != role.getRows())
      return false;
    for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
      bool isProduced = operand.getDefiningOp() == member;
      // Shared scalars are no reason to fuse.
      bool isShared = llvm::is_contained(member->getOperands(), operand) &&
                      getLocalType(operand.getType()).getNumElements() > 1;
      isConnected |= isProduced || isShared;
      if (isProduced && (other.fusion == Fusion::Last ||
                         llvm::is_contained(role.lookedUp, index) ||
                         llvm::is_contained(overwritten, operand)))
        return false;
    }
    // What is overwritten is read by its own op only.
    for (Value value : overwritten)
      if (llvm::is_contained(member->getOperands(), value))
        return false;
    for (Value value : getOverwritten(member))
      if (llvm::is_contained(op->getOperands(), value))
        return false;
  }
  if (!isConnected)
    return false;
  llvm::SmallSetVector<unsigned, 8> others = getProducers(op);
  others.remove(unit);
  return !isReachable(unit, others);
}

void Grouping::addOp(Operation *op) {
  llvm::SmallSetVector<unsigned, 8> producers = getProducers(op);
  if (isKernelOp(op)) {
    KernelRole role = cast<KernelOpInterface>(op).getKernelRole();
    if (role.fusion != Fusion::Alone)
      for (unsigned unit = units.size(); unit-- > 0;) {
        if (!canJoin(op, role, unit))
          continue;
        producers.remove(unit);
        predecessors[unit].insert_range(producers);
        units[unit].ops.push_back(op);
        unitOf[op] = unit;
        return;
      }
  }
  unsigned unit = units.size();
  units.push_back({{op}, isKernelOp(op)});
  unitOf[op] = unit;
  // Communication keeps its order.
  if (!isMemoryEffectFree(op)) {
    if (lastEffect)
      producers.insert(*lastEffect);
    lastEffect = unit;
  }
  predecessors.push_back(std::move(producers));
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
    ordered.push_back(units[unit]);
  };
  for (unsigned unit = 0; unit < units.size(); ++unit)
    visit(unit);
  return ordered;
}

std::vector<KernelUnit> dtc::groupKernels(Block &block) {
  return Grouping(block).getOrderedUnits();
}
