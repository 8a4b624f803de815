//===- DeviceWork.cpp - GPU work of a step --------------------------------===//
//
// Counts launches, library calls and the bytes that they move, and a lower
// bound of those bytes.
//
//===----------------------------------------------------------------------===//

#include "OpCost.h"
#include "dtc/Memory/MemoryPlan.h"
#include "dtc/Plan/Aliases.h"
#include "dtc/Plan/Skeleton.h"
#include "dtc/Report/Report.h"

using namespace mlir;
using namespace dtc;

namespace {

/// Adds up the work of one stage.
class Counter {
public:
  Counter(OpCosts &costs, const llvm::StringMap<int64_t> &launches)
      : costs(costs), launches(launches) {}

  DeviceWork count(func::FuncOp function);

private:
  OpCosts &costs;
  const llvm::StringMap<int64_t> &launches;
  llvm::DenseMap<Operation *, DeviceWork> callees;
};

} // namespace

void DeviceWork::add(const DeviceWork &other) {
  functions += other.functions;
  libraryCalls += other.libraryCalls;
  copies += other.copies;
  kernelBytes += other.kernelBytes;
  libraryBytes += other.libraryBytes;
  copyBytes += other.copyBytes;
  fewestBytes += other.fewestBytes;
}

DeviceWork Counter::count(func::FuncOp function) {
  DeviceWork work;
  for (Operation &op : function.front()) {
    if (auto run = dyn_cast<RunOp>(op)) {
      func::FuncOp callee = getCallee(run);
      if (!callees.contains(callee)) {
        DeviceWork own = count(callee);
        callees[callee] = own;
      }
      work.add(callees[callee]);
      continue;
    }
    OpCost cost = costs.get(&op);
    switch (cost.kind) {
    case OpCost::Nothing:
      break;
    case OpCost::Kernel:
      work.functions +=
          launches.lookup(cast<LaunchOp>(op).getFunction().getName());
      work.kernelBytes += cost.bytes;
      break;
    case OpCost::Library:
      work.libraryCalls += cost.calls;
      work.libraryBytes += cost.bytes;
      work.fewestBytes += cost.bytes;
      break;
    case OpCost::Copy:
      work.copies += cost.calls;
      work.copyBytes += cost.bytes;
      break;
    }
  }
  return work;
}

/// Lower bound of the update's bytes: it reads and writes parameters and
/// optimizer state, and reads gradients.
static int64_t getUpdateBytes(func::FuncOp plan) {
  int64_t bytes = 0;
  for (BlockArgument argument : plan.getArguments()) {
    unsigned number = argument.getArgNumber();
    bool isTrained = plan.getArgAttr(number, attr::parameter) &&
                     !plan.getArgAttr(number, attr::frozen);
    if (isTrained || plan.getArgAttr(number, attr::state))
      bytes += (isTrained ? 3 : 2) * getLocalBytes(argument.getType());
  }
  return bytes;
}

LogicalResult Report::addDeviceWork(ModuleOp module,
                                    const llvm::StringMap<int64_t> &launches) {
  FailureOr<Stages> modules = getStages(module);
  if (failed(modules))
    return failure();
  OpCosts costs;
  for (auto [stage, report] : llvm::zip_equal(*modules, stages)) {
    func::FuncOp plan = getPlan(stage);
    report.deviceWork = Counter(costs, launches).count(plan);
    report.deviceWork->fewestBytes += getUpdateBytes(plan);
  }
  return success();
}
