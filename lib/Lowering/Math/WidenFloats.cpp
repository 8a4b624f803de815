//===- WidenFloats.cpp - kernels compute in f32 ---------------------------===//
//
// Inserts casts at the inputs of a kernel, and changes the types inside, where
// casts disappear. The result of every op on 16-bit types is rounded. So its
// bits depend neither on the kernel that computes it, nor on whether it is
// stored.
//
//===----------------------------------------------------------------------===//

#include "WidenFloats.h"
#include "dtc/Dialect/Dialect.h"
#include "dtc/Plan/KernelOps.h"

using namespace mlir;
using namespace dtc;

static RankedTensorType getWide(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return type.clone(getComputeType(type.getElementType()));
}

static bool isNarrow(Value value) { return isFloat16(value.getType()); }

/// Whether the result has the same elements as its 16-bit operands, or their
/// negatives, so that rounding changes nothing.
static bool keepsElements(Operation *op) {
  if (auto cast = dyn_cast<CastOp>(op))
    return getElementTypeOrSelf(cast.getX()) ==
           getElementTypeOrSelf(cast.getY());
  return isa<ReshapeOp, BroadcastOp, TransposeOp, SliceOp, SplitOp, ConcatOp,
             PadOp, GatherOp, NegOp, AbsOp, ReluOp, MaximumOp, MinimumOp,
             SelectOp>(op) &&
         llvm::all_of(op->getOperands(), [](Value operand) {
           return isNarrow(operand) ||
                  !isa<FloatType>(getElementTypeOrSelf(operand));
         });
}

/// Rounds a result to its original 16-bit type.
static void round(OpResult result, RankedTensorType narrow) {
  if (result.getType() == narrow)
    return; // read by lookups
  OpBuilder builder(result.getContext());
  builder.setInsertionPointAfter(result.getOwner());
  Location loc = result.getLoc();
  auto rounded = CastOp::create(builder, loc, narrow, result);
  auto wide = CastOp::create(builder, loc, result.getType(), rounded.getY());
  result.replaceAllUsesExcept(wide.getY(), rounded);
}

/// Widens the operands, except tables of lookups, which must be in memory. The
/// result of such a lookup is widened instead.
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

/// Removes a cast between f32, f16 and bf16 whose operand has the result's type
/// now.
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
  // Collected before types change.
  llvm::DenseSet<Value> rounded;
  for (Operation &op : kernel.front().without_terminator())
    for (Value result : op.getResults())
      if (isNarrow(result) && !keepsElements(&op))
        rounded.insert(result);
  Operation *terminator = kernel.front().getTerminator();
  for (Operation &op :
       llvm::make_early_inc_range(kernel.front().without_terminator())) {
    if (auto constant = dyn_cast<ConstantOp>(op)) {
      assert(!isNarrow(constant) && "constants are in the compute type");
      continue;
    }
    SmallVector<Type> narrow(op.getResultTypes());
    widen(&op);
    for (auto [result, type] : llvm::zip(op.getResults(), narrow))
      if (rounded.contains(result))
        round(result, cast<RankedTensorType>(type));
    if (auto cast = dyn_cast<CastOp>(op))
      removeCast(cast);
  }
  OpBuilder builder(terminator);
  for (auto [operand, type] :
       llvm::zip(terminator->getOpOperands(), kernel.getResultTypes())) {
    if (operand.get().getType() == type)
      continue;
    auto widened = operand.get().getDefiningOp<CastOp>();
    if (widened && widened.getX().getType() == type) { // rounded already
      operand.set(widened.getX());
      if (widened->use_empty())
        widened.erase();
      continue;
    }
    operand.set(
        CastOp::create(builder, terminator->getLoc(), type, operand.get()));
  }
}
