//===- JoinKernels.cpp - merge adjacent kernels ---------------------------===//
//
// For targets with expensive launches: the casts of all parameters, or the
// updates of a bucket, become one kernel.
//
//===----------------------------------------------------------------------===//

#include "KernelGroups.h"
#include "dtc/Dialect/Dialect.h"
#include "dtc/Plan/Aliases.h"
#include "dtc/Plan/KernelOps.h"
#include <map>

using namespace mlir;
using namespace dtc;

namespace {

/// Kernels with only views and constants between them, in levels: the level of
/// a kernel is above those of the kernels that it depends on.
class Run {
public:
  explicit Run(const AliasClasses &classes) : classes(classes) {}

  void add(const KernelUnit &unit);
  void appendTo(std::vector<KernelUnit> &units) const;

private:
  using Level = int64_t;
  static constexpr Level before = -1; ///< all kernels
  void atLeast(Level &level, const llvm::DenseMap<Value, Level> &levels,
               Value value) const {
    if (auto it = levels.find(value); it != levels.end())
      level = std::max(level, it->second);
  }

  const AliasClasses &classes;
  /// The level after which a value is available; by buffer, the last level that
  /// reads or overwrites it.
  llvm::DenseMap<Value, Level> made, read, overwritten;
  std::map<Level, SmallVector<KernelUnit>> kernels, others;
};

} // namespace

void Run::add(const KernelUnit &unit) {
  Level level = before;
  for (Operation *op : unit.ops) {
    for (Value operand : op->getOperands()) {
      atLeast(level, made, operand);
      atLeast(level, overwritten, classes.getRoot(operand));
    }
    for (Value operand : getOverwritten(op))
      atLeast(level, read, classes.getRoot(operand));
  }
  if (unit.isKernel)
    ++level;
  for (Operation *op : unit.ops) {
    for (Value result : op->getResults())
      made[result] = level;
    for (Value operand : op->getOperands()) {
      Level &last =
          read.try_emplace(classes.getRoot(operand), level).first->second;
      last = std::max(last, level);
    }
    for (Value operand : getOverwritten(op))
      overwritten[classes.getRoot(operand)] = level;
  }
  (unit.isKernel ? kernels : others)[level].push_back(unit);
}

static bool standsAlone(const KernelUnit &unit) {
  return llvm::any_of(unit.ops, [](Operation *op) {
    return cast<KernelOpInterface>(op).getKernelRole().fusion == Fusion::Alone;
  });
}

void Run::appendTo(std::vector<KernelUnit> &units) const {
  Level last = kernels.empty() ? before : kernels.rbegin()->first;
  for (Level level = before; level <= last; ++level) {
    KernelUnit joined;
    joined.isKernel = true;
    if (auto it = kernels.find(level); it != kernels.end())
      for (const KernelUnit &unit : it->second) {
        if (standsAlone(unit))
          units.push_back(unit);
        else
          llvm::append_range(joined.ops, unit.ops);
      }
    if (!joined.ops.empty())
      units.push_back(std::move(joined));
    if (auto it = others.find(level); it != others.end())
      llvm::append_range(units, it->second);
  }
}

std::vector<KernelUnit> dtc::joinKernels(std::vector<KernelUnit> units,
                                         const AliasClasses &classes) {
  std::vector<KernelUnit> joined;
  auto isOfRun = [](const KernelUnit &unit) {
    return unit.isKernel || isView(unit.ops.front()) ||
           isa<ConstantOp>(unit.ops.front());
  };
  for (auto unit = units.begin(); unit != units.end();) {
    if (!isOfRun(*unit)) {
      joined.push_back(std::move(*unit++));
      continue;
    }
    Run run(classes);
    for (; unit != units.end() && isOfRun(*unit); ++unit)
      run.add(*unit);
    run.appendTo(joined);
  }
  return joined;
}
