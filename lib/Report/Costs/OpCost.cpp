//===- OpCost.cpp - cost of one op on a rank ------------------------------===//
//
// Arithmetic and memory traffic, derived from the ops of a plan and the local
// types of their operands.
//
//===----------------------------------------------------------------------===//

#include "OpCost.h"
#include "dtc/Memory/MemoryPlan.h"
#include "dtc/Plan/Aliases.h"
#include "dtc/Plan/KernelOps.h"
#include "dtc/Plan/Skeleton.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace dtc;

// Fraction of the data sheet's figures that programs reach: cuBLAS about 3/4 of
// the peak in large products, a copy 9/10 of the memory bandwidth.
static constexpr double libraryEfficiency = 0.75, memoryEfficiency = 0.9;

std::string dtc::getNumbers(Type element) {
  return element.isF64()    ? "f64"
         : element.isBF16() ? "bf16"
         : element.isF16()  ? "fp16"
                            : "f32";
}

double OpCost::getSeconds(const DeviceSpeed &speed, bool usesTf32) const {
  double peak = speed.f32; // kernels use no tensor cores
  if (kind == Library) {
    std::string numbers = getNumbers(element);
    peak = speed.getFlops(numbers == "f32" && usesTf32 ? "tf32" : numbers) *
           libraryEfficiency;
  }
  return std::max(flops / peak, bytes / (speed.bandwidth * memoryEfficiency));
}

/// Number of ranks that share the work of an op: those on axes that split its
/// operands or results.
static int64_t getShares(Operation *op) {
  llvm::StringMap<int64_t> axes;
  SmallVector<Type> types(op->getOperandTypes());
  llvm::append_range(types, op->getResultTypes());
  for (Type type : types)
    if (LayoutAttr layout = getLayout(type))
      for (const AxisLayout &entry : layout.getEntries())
        if (entry.hasDim())
          axes[entry.axis.getValue()] =
              layout.getMesh().getSize(entry.axis.getValue());
  int64_t shares = 1;
  for (auto &axis : axes)
    shares *= axis.second;
  return shares;
}

int64_t dtc::getFlops(Operation *root) {
  int64_t flops = 0;
  root->walk([&](Operation *op) {
    if (auto cost = dyn_cast<CostInterface>(op)) {
      flops += cost.getFlops() / getShares(op);
    } else if (auto launch = dyn_cast<LaunchOp>(op)) {
      flops += getFlops(launch.getFunction());
    }
  });
  return flops;
}

/// Bytes that a kernel reads of its argument.
static int64_t getReadBytes(BlockArgument argument) {
  int64_t whole = getLocalBytes(argument.getType()), rows = 0;
  for (OpOperand &use : argument.getUses()) {
    auto gather = dyn_cast<GatherOp>(use.getOwner());
    if (!gather || use.getOperandNumber() != 0)
      return whole;
    rows += getLocalBytes(gather.getType());
  }
  return std::min(whole, rows);
}

static OpCost getKernelCost(func::FuncOp kernel) {
  OpCost cost{OpCost::Kernel, getFlops(kernel), 0, {}};
  for (BlockArgument argument : kernel.getArguments())
    cost.bytes += getReadBytes(argument);
  for (Type type : kernel.getResultTypes())
    cost.bytes += getLocalBytes(type);
  return cost;
}

/// Cost of the copies of a stage function's results into the caller's memory
/// (FunctionLowering::finish). A plan's results are in place.
static OpCost getReturnCost(func::ReturnOp end) {
  auto function = end->getParentOfType<func::FuncOp>();
  OpCost cost{OpCost::Nothing, 0, 0, {}, 0};
  if (function.getName() == planName)
    return cost;
  AliasClasses classes(function.front());
  MemoryHomes homes(function, classes);
  for (OpOperand &returned : end->getOpOperands()) {
    MemoryHome home = homes.get(returned.get());
    bool isInPlace = home.kind == MemoryHome::Result &&
                     home.index == returned.getOperandNumber();
    if (home.kind == MemoryHome::Argument) {
      auto update =
          function.getArgAttrOfType<IntegerAttr>(home.index, attr::update);
      isInPlace = update && update.getInt() == returned.getOperandNumber();
    }
    if (isInPlace && classes.getOffset(returned.get()) == 0)
      continue;
    cost.kind = OpCost::Copy;
    cost.bytes += 2 * getLocalBytes(returned.get().getType());
    ++cost.calls;
  }
  return cost;
}

OpCost OpCosts::get(Operation *op) {
  Operation *costly = op;
  if (auto launch = dyn_cast<LaunchOp>(op))
    costly = launch.getFunction();
  if (isa<LaunchOp, func::ReturnOp>(op)) {
    auto [it, isNew] = known.try_emplace(costly);
    if (isNew)
      it->second = costly == op ? getReturnCost(cast<func::ReturnOp>(op))
                                : getKernelCost(cast<func::FuncOp>(costly));
    return it->second;
  }
  if (isa<CollectiveOpInterface, SendOp, RecvOp, WaitOp, RunOp, ConstantOp>(
          op) ||
      isMadeByProduct(op) || isView(op) || op->getNumResults() == 0)
    return {};
  int64_t results = 0, operands = 0;
  for (Type type : op->getResultTypes())
    results += getLocalBytes(type);
  llvm::SmallPtrSet<Value, 8> distinct(op->operand_begin(), op->operand_end());
  for (Value operand : distinct)
    operands += getLocalBytes(operand.getType());
  if (isa<ZeroOp>(op))
    return {OpCost::Copy, 0, results, {}};
  if (!isa<CostInterface>(op)) // a copy, or a part of its operand
    return {OpCost::Copy, 0, 2 * results, {}};
  // A product that adds to an accumulator reads it, too.
  if (getAccumulation(op))
    operands += getLocalBytes(op->getResult(0).getType());
  return {OpCost::Library, getFlops(op), operands + results,
          getElementTypeOrSelf(op->getOperand(0))};
}
