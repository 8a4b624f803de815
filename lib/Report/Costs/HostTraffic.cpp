//===- HostTraffic.cpp - traffic on the link to the host ------------------===//
//
// Counts the bytes of host memory that kernels, gathers and copies read and
// write.
//
//===----------------------------------------------------------------------===//

#include "HostTraffic.h"
#include "dtc/Memory/MemoryPlan.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace dtc;

HostTraffic::HostTraffic(func::FuncOp plan)
    : arguments(getHostArguments(plan)) {}

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

HostTraffic::Bytes HostTraffic::count(func::FuncOp function) {
  Bytes bytes;
  if (arguments.empty())
    return bytes;
  AliasClasses classes(function.front());
  for (Operation &op : function.front()) {
    Bytes own = get(&op, classes);
    if (auto run = dyn_cast<RunOp>(op)) {
      func::FuncOp callee = getCallee(run);
      if (!callees.contains(callee)) {
        Bytes inside = count(callee);
        callees[callee] = inside;
      }
      own = callees[callee];
    }
    bytes.read += own.read;
    bytes.written += own.written;
  }
  return bytes;
}
