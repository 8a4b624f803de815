//===- KernelGroups.cpp - which ops of a block form kernels ---------------===//
//
// Greedy, in program order: an op joins the kernels that it shares values with,
// the latest first, if rows agree and no way leads from one to the other
// through something outside.
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

/// Ops of a kernel at most. Kernels of a layer have some dozens; longer ones
/// are chains, such as all positions of a recurrent network, whose pieces are
/// alike and compiled once. Compilation takes more than linear time.
constexpr size_t maxKernelOps = 128;

using UnitSet = llvm::SmallSetVector<unsigned, 8>;

/// Units are kept in an order in which each follows its predecessors, so that a
/// way from one to another is looked for between the two alone: a block has
/// many ops, and kernels are local.
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
  /// Units that each unit needs the results of, or must follow.
  std::vector<UnitSet> predecessors;
  /// Other units with an op to which one of each unit is connected: a kernel of
  /// both saves memory traffic. Shared scalars do not.
  std::vector<UnitSet> connected;
  std::vector<SmallVector<Value>> overwritten; ///< by ops of units
  std::vector<unsigned> order; ///< units; those that were merged stay
  std::vector<size_t> places;  ///< of units in the order
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

/// Whether a way through predecessors leads from some unit back to `target`.
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

/// Notes what an op, the only one of its unit, is connected to.
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

/// Whether a value that passes between an op and a unit must be complete before
/// it is read.
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

/// Whether a unit makes or reads what the other one overwrites, which must come
/// from outside of their kernel.
bool Grouping::overwrites(unsigned unit, unsigned other) const {
  return llvm::any_of(overwritten[unit], [&](Value value) {
    return llvm::any_of(units[other].ops, [&](Operation *op) {
      return value.getDefiningOp() == op ||
             llvm::is_contained(op->getOperands(), value);
    });
  });
}

/// Whether an iteration reads an operand at its own place alone. A
/// concatenation writes, where that ends a kernel, each part in its own loop.
static bool readsInPlace(OpOperand &use, const KernelRole &role) {
  Operation *op = use.getOwner();
  if (isa<TransposeOp, SliceOp, PadOp, SplitOp>(op) ||
      use.get().getDefiningOp<ConcatOp>())
    return false;
  return isa<ConcatOp>(op) ||
         getLocalType(use.get().getType()).getShape() == role.domain.getShape();
}

/// Whether an op of two units reads at other places what ops of the units
/// overwrite: their kernel would find there what it has written.
bool Grouping::movesOverwritten(unsigned a, unsigned b) const {
  if (overwritten[a].empty() && overwritten[b].empty())
    return false;
  llvm::SmallPtrSet<Operation *, 16> reached; ///< by what is overwritten
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

/// Of units that are connected.
bool Grouping::canMerge(unsigned a, unsigned b) const {
  if (!units[a].isKernel || !units[b].isKernel ||
      units[a].ops.size() + units[b].ops.size() > maxKernelOps)
    return false;
  // Ops of a unit agree in this.
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
  // No way between them through a third.
  UnitSet beforeA = predecessors[a], beforeB = predecessors[b];
  beforeA.remove(b);
  beforeB.remove(a);
  return !isReachable(b, beforeA) && !isReachable(a, beforeB);
}

/// Puts two units that become one, between which there is no way through a
/// third, side by side: what follows the first one goes behind the second.
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
  // The latest first; what has joined connects to more.
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

std::vector<KernelUnit> dtc::groupKernels(Block &block, bool poolings) {
  return Grouping(block, poolings).getOrderedUnits();
}
