//===- KernelGroups.cpp - group the ops of a block into kernels -----------===//
//
// Greedy, in program order: an op joins the kernels that it shares values with,
// the latest first, if rows agree and no path leads from one to the other
// through another unit.
//
//===----------------------------------------------------------------------===//

#include "KernelGroups.h"
#include "dtc/Dialect/Dialect.h"
#include "dtc/Plan/Aliases.h"
#include "dtc/Plan/KernelOps.h"
#include "llvm/ADT/SetVector.h"
#include <algorithm>

using namespace mlir;
using namespace dtc;

static bool isPooling(Operation *op) {
  return isa<MaxPool2DOp, MaxPool2DGradOp, SumPool2DOp, SumPool2DGradOp>(op);
}

SmallVector<Value> dtc::getOverwritten(Operation *op) {
  SmallVector<Value> operands;
  if (auto alias = dyn_cast<AliasInterface>(op))
    for (unsigned i = 0; i < op->getNumResults(); ++i)
      if (std::optional<Alias> a = alias.getAlias(i);
          a && a->kind == AliasKind::Update)
        operands.push_back(op->getOperand(a->operand));
  return operands;
}

static bool isScalar(Value value) {
  return getLocalType(value.getType()).getNumElements() == 1;
}

namespace {

/// Maximum number of ops of a kernel. Kernels of a layer have some dozens.
/// Longer ones are chains, such as all positions of a recurrent network, whose
/// pieces are equal and compiled once. Compilation time grows faster than
/// linearly.
constexpr size_t maxKernelOps = 128;

using UnitSet = llvm::SmallSetVector<unsigned, 8>;

/// Keeps units in an order in which each follows its predecessors. The search
/// for a path from one unit to another then covers only the units between them:
/// a block has many ops, and kernels are local.
class Grouping {
public:
  Grouping(Block &block, bool poolings);
  std::vector<KernelUnit> getOrderedUnits() const;

private:
  bool isKernelOp(Operation *op) const;
  bool isIn(Operation *op, unsigned unit) const;
  void addOp(Operation *op);
  void connect(unsigned unit, Operation *op);
  bool needsComplete(OpOperand &use) const;
  bool awaits(Operation *op, unsigned unit) const;
  bool overwrites(unsigned unit, unsigned other) const;
  bool movesOverwritten(unsigned a, unsigned b) const;
  bool canMerge(unsigned a, unsigned b) const;
  void merge(unsigned from, unsigned into);
  void reorder(unsigned first, unsigned second);
  bool isReachable(unsigned target, const UnitSet &from) const;

  bool poolings;
  /// A unit without ops was merged into another.
  std::vector<KernelUnit> units;
  /// Units that each unit depends on or must follow.
  std::vector<UnitSet> predecessors;
  /// Other units that share a value with each unit, so that a common kernel
  /// saves memory traffic. Shared scalars do not count.
  std::vector<UnitSet> connected;
  std::vector<SmallVector<Value>> overwritten; ///< by ops of units
  std::vector<unsigned> order;                 ///< units; merged ones stay
  std::vector<size_t> places; ///< index of each unit in `order`
  DenseMap<Operation *, unsigned> unitOf;
  DenseMap<Operation *, KernelRole> roles; ///< of ops that kernels may have
  std::optional<unsigned> lastEffect;
};

} // namespace

Grouping::Grouping(Block &block, bool poolings) : poolings(poolings) {
  for (Operation &op : block.without_terminator()) {
    bool onlyInKernels = isa<ConstantOp>(op) &&
                         llvm::all_of(op.getUsers(), [&](Operation *user) {
                           return isKernelOp(user);
                         });
    if (!onlyInKernels)
      addOp(&op);
  }
}

bool Grouping::isKernelOp(Operation *op) const {
  return isa<KernelOpInterface>(op) && !isView(op) && !isMadeByProduct(op) &&
         (poolings || !isPooling(op));
}

/// Whether a path through predecessors leads from some unit back to `target`.
bool Grouping::isReachable(unsigned target, const UnitSet &from) const {
  llvm::SetVector<unsigned> seen;
  auto add = [&](const UnitSet &more) {
    for (unsigned unit : more)
      if (places[unit] >= places[target])
        seen.insert(unit);
  };
  add(from);
  for (unsigned i = 0; i < seen.size(); ++i) {
    if (seen[i] == target)
      return true;
    add(predecessors[seen[i]]);
  }
  return false;
}

/// Records the connections of an op, the only one of its unit.
void Grouping::connect(unsigned unit, Operation *op) {
  auto add = [&](Operation *other) {
    auto it = other ? unitOf.find(other) : unitOf.end();
    if (it == unitOf.end() || it->second == unit)
      return;
    connected[unit].insert(it->second);
    connected[it->second].insert(unit);
  };
  for (Value operand : op->getOperands()) {
    add(operand.getDefiningOp());
    if (!isScalar(operand))
      llvm::for_each(operand.getUsers(), add);
  }
}

bool Grouping::isIn(Operation *op, unsigned unit) const {
  auto it = op ? unitOf.find(op) : unitOf.end();
  return it != unitOf.end() && it->second == unit;
}

/// Whether an operand must be complete before a kernel reads it.
bool Grouping::needsComplete(OpOperand &use) const {
  return roles.at(use.get().getDefiningOp()).fusion == Fusion::Last ||
         llvm::is_contained(roles.at(use.getOwner()).lookedUp,
                            use.getOperandNumber());
}

/// Whether a value between an op and a unit must be complete before it is read.
bool Grouping::awaits(Operation *op, unsigned unit) const {
  return llvm::any_of(op->getOpOperands(),
                      [&](OpOperand &use) {
                        return isIn(use.get().getDefiningOp(), unit) &&
                               needsComplete(use);
                      }) ||
         llvm::any_of(op->getUses(), [&](OpOperand &use) {
           return isIn(use.getOwner(), unit) && needsComplete(use);
         });
}

/// Whether a unit makes or reads a value that the other one overwrites. Such a
/// value must come from outside their kernel.
bool Grouping::overwrites(unsigned unit, unsigned other) const {
  return llvm::any_of(overwritten[unit], [&](Value value) {
    return llvm::any_of(units[other].ops, [&](Operation *op) {
      return value.getDefiningOp() == op ||
             llvm::is_contained(op->getOperands(), value);
    });
  });
}

/// Whether an iteration reads an operand only at its own position. A
/// concatenation that ends a kernel writes each part in its own loop.
static bool readsInPlace(OpOperand &use, const KernelRole &role) {
  Operation *op = use.getOwner();
  if (isa<TransposeOp, SliceOp, PadOp, SplitOp>(op) ||
      use.get().getDefiningOp<ConcatOp>())
    return false;
  return isa<ConcatOp>(op) ||
         getLocalType(use.get().getType()).getShape() == role.domain.getShape();
}

/// Whether an op of two units reads, at other positions, a value that ops of
/// the units overwrite: their kernel would read what it has written.
bool Grouping::movesOverwritten(unsigned a, unsigned b) const {
  if (overwritten[a].empty() && overwritten[b].empty())
    return false;
  llvm::SmallPtrSet<Operation *, 16> reached; ///< from overwritten values
  for (const KernelUnit *unit : {&units[a], &units[b]})
    for (Operation *op : unit->ops)
      if (!getOverwritten(op).empty())
        reached.insert(op);
  SmallVector<Operation *> next(reached.begin(), reached.end());
  while (!next.empty())
    for (OpOperand &use : next.pop_back_val()->getUses()) {
      Operation *user = use.getOwner();
      if (!isIn(user, a) && !isIn(user, b))
        continue;
      if (!readsInPlace(use, roles.at(user)))
        return true;
      if (reached.insert(user).second)
        next.push_back(user);
    }
  return false;
}

/// Whether two connected units can become one.
bool Grouping::canMerge(unsigned a, unsigned b) const {
  if (!units[a].isKernel || !units[b].isKernel ||
      units[a].ops.size() + units[b].ops.size() > maxKernelOps)
    return false;
  // All ops of a unit agree in this.
  const KernelRole &roleA = roles.at(units[a].ops.front());
  const KernelRole &roleB = roles.at(units[b].ops.front());
  if (roleA.fusion == Fusion::Alone || roleB.fusion == Fusion::Alone ||
      roleA.getRows() != roleB.getRows())
    return false;
  auto [few, many] = units[a].ops.size() < units[b].ops.size()
                         ? std::pair(a, b)
                         : std::pair(b, a);
  if (overwrites(a, b) || overwrites(b, a) || movesOverwritten(a, b) ||
      llvm::any_of(units[few].ops, [&, many = many](Operation *op) {
        return awaits(op, many);
      }))
    return false;
  // No path may lead between them through a third unit.
  UnitSet beforeA = predecessors[a], beforeB = predecessors[b];
  beforeA.remove(b);
  beforeB.remove(a);
  return !isReachable(b, beforeA) && !isReachable(a, beforeB);
}

/// Moves two units that are to be merged, without a path through a third one,
/// side by side: units that depend on the first move behind the second.
void Grouping::reorder(unsigned first, unsigned second) {
  size_t begin = places[first], end = places[second];
  llvm::DenseSet<unsigned> following = {first};
  SmallVector<unsigned> before, after;
  for (size_t place = begin + 1; place < end; ++place) {
    unsigned unit = order[place];
    bool follows = llvm::any_of(predecessors[unit], [&](unsigned other) {
      return following.contains(other);
    });
    if (follows)
      following.insert(unit);
    (follows ? after : before).push_back(unit);
  }
  llvm::append_range(before, std::initializer_list<unsigned>{first, second});
  llvm::append_range(before, after);
  for (auto [place, unit] : llvm::enumerate(before)) {
    order[begin + place] = unit;
    places[unit] = begin + place;
  }
}

void Grouping::merge(unsigned from, unsigned into) {
  if (places[into] < places[from])
    reorder(into, from);
  else
    reorder(from, into);
  for (Operation *op : units[from].ops)
    unitOf[op] = into;
  SmallVector<Operation *> ops;
  std::merge(units[into].ops.begin(), units[into].ops.end(),
             units[from].ops.begin(), units[from].ops.end(),
             std::back_inserter(ops),
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  units[into].ops = std::move(ops);
  llvm::append_range(overwritten[into], overwritten[from]);
  overwritten[from].clear();
  for (unsigned other : connected[from]) {
    connected[other].remove(from);
    if (other == into)
      continue;
    connected[other].insert(into);
    connected[into].insert(other);
  }
  connected[from].clear();
  predecessors[into].insert_range(predecessors[from]);
  units[from] = KernelUnit();
  predecessors[from].clear();
  for (size_t place = places[from] + 1; place < order.size(); ++place)
    if (UnitSet &before = predecessors[order[place]]; before.remove(from))
      before.insert(into);
  predecessors[into].remove(into);
  predecessors[into].remove(from);
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
  connected.emplace_back();
  overwritten.push_back(getOverwritten(op));
  places.push_back(order.size());
  order.push_back(unit);
  unitOf[op] = unit;
  if (!units[unit].isKernel)
    return;
  roles[op] = cast<KernelOpInterface>(op).getKernelRole();
  connect(unit, op);
  // Try the latest unit first; each merge adds connections.
  for (unsigned last = unit;;) {
    SmallVector<unsigned> others;
    for (unsigned other : connected[unit])
      if (other < last)
        others.push_back(other);
    llvm::sort(others, std::greater<>());
    const auto *found = llvm::find_if(
        others, [&](unsigned other) { return canMerge(other, unit); });
    if (found == others.end())
      break;
    merge(unit, *found);
    last = unit = *found;
  }
}

/// Returns the units, each as early as its first op allows.
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

std::vector<KernelUnit> dtc::groupKernels(Block &block, bool poolings) {
  return Grouping(block, poolings).getOrderedUnits();
}
