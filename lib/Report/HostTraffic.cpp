//===- HostTraffic.cpp - what crosses the link to the host ----------------===//
//
// With --offload a plan keeps arguments in the host's memory: what kernels,
// gathers and copies read and write there.
//
//===----------------------------------------------------------------------===//

#include "ReportCounts.h"
#include "dtc/Memory/MemoryPlan.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace dtc;

HostTraffic::HostTraffic(func::FuncOp plan) {
  for (BlockArgument argument : plan.getArguments())
    if (isInHostMemory(getPlannedOffset(argument).value_or(callersMemory)))
      arguments.insert(argument);
  if (arguments.empty())
    return;
  AliasClasses classes(plan.front());
  for (auto run : plan.getOps<RunOp>())
    for (auto [i, input] : llvm::enumerate(run.getInputs()))
      if (arguments.contains(classes.getRoot(input)))
        arguments.insert(getCallee(run).getArgument(i));
}

HostTraffic::Bytes HostTraffic::get(Operation *op,
                                    const AliasClasses &classes) const {
  Bytes bytes;
  if (arguments.empty() || isView(op) || isa<RunOp, WaitOp, func::ReturnOp>(op))
    return bytes;
  llvm::SmallPtrSet<Value, 8> distinct(op->operand_begin(), op->operand_end());
  for (Value operand : distinct)
    if (arguments.contains(classes.getRoot(operand)))
      bytes.read += getLocalBytes(operand.getType());
  for (Value result : op->getResults())
    if (arguments.contains(classes.getRoot(result)))
      bytes.written += getLocalBytes(result.getType());
  return bytes;
}

HostTraffic::Bytes HostTraffic::count(func::FuncOp function) const {
  Bytes bytes;
  AliasClasses classes(function.front());
  for (Operation &op : function.front()) {
    Bytes own = get(&op, classes);
    if (auto run = dyn_cast<RunOp>(op))
      own = count(getCallee(run));
    bytes.read += own.read;
    bytes.written += own.written;
  }
  return bytes;
}
