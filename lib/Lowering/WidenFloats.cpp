//===- WidenFloats.cpp - kernels compute in f32 ---------------------------===//
//
// Casts at the border of a kernel; inside, types change and casts vanish.
//
//===----------------------------------------------------------------------===//

#include "WidenFloats.h"
#include "dtc/Dialect/Dialect.h"
#include "dtc/Schedule/KernelOps.h"

using namespace mlir;
using namespace dtc;

static RankedTensorType getWide(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return type.clone(getComputeType(type.getElementType()));
}

static bool isNarrow(Value value) { return isFloat16(value.getType()); }

/// Widens the operands but those that are looked up: reading rows by index
/// needs them in memory. Then so are the results, which are rows of them.
static void widen(Operation *op) {
  SmallVector<unsigned> lookedUp;
  if (auto kernelOp = dyn_cast<KernelOpInterface>(op))
    lookedUp = llvm::to_vector(kernelOp.getKernelRole().lookedUp);
  OpBuilder builder(op);
  bool keepsRows = false;
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isNarrow(operand.get()))
      continue;
    if (llvm::is_contained(lookedUp, operand.getOperandNumber())) {
      keepsRows = true;
      continue;
    }
    operand.set(CastOp::create(builder, op->getLoc(), getWide(operand.get()),
                               operand.get()));
  }
  for (OpResult result : op->getResults())
    if (isNarrow(result) && !keepsRows)
      result.setType(getWide(result));
}

/// The value that a cast between f32, f16 and bf16 gives back unchanged.
static void removeCast(CastOp cast) {
  auto isSmall = [](Type type) {
    return isFloat16(type) || getElementTypeOrSelf(type).isF32();
  };
  if (cast.getX().getType() == cast.getY().getType() &&
      isSmall(cast.getX().getType())) {
    cast.replaceAllUsesWith(cast.getX());
    cast.erase();
  }
}

void dtc::widenFloats(func::FuncOp kernel) {
  auto isAny = [](ValueRange values) { return llvm::any_of(values, isNarrow); };
  bool isNeeded = isAny(kernel.getArguments());
  kernel.walk([&](Operation *op) { isNeeded |= isAny(op->getResults()); });
  if (!isNeeded)
    return;
  Operation *terminator = kernel.front().getTerminator();
  for (Operation &op :
       llvm::make_early_inc_range(kernel.front().without_terminator())) {
    if (auto constant = dyn_cast<ConstantOp>(op)) {
      assert(!isNarrow(constant) && "constants are in the compute type");
      continue;
    }
    widen(&op);
    if (auto cast = dyn_cast<CastOp>(op))
      removeCast(cast);
  }
  OpBuilder builder(terminator);
  for (auto [operand, type] :
       llvm::zip(terminator->getOpOperands(), kernel.getResultTypes()))
    if (operand.get().getType() != type)
      operand.set(
          CastOp::create(builder, terminator->getLoc(), type, operand.get()));
}
