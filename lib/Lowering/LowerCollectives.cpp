//===- LowerCollectives.cpp - communication of a rank ---------------------===//
//
// Collectives and messages are calls of the runtime; what has a slot is a call
// that starts it, and a wait.
//
//===----------------------------------------------------------------------===//

#include "FunctionLowering.h"

using namespace mlir;
using namespace dtc;

/// How often a block of each rank's part of a dimension comes in the whole, and
/// how many elements it has.
static std::pair<int64_t, int64_t> getBlocks(Value part, int64_t dim) {
  ArrayRef<int64_t> shape = getLocalType(part.getType()).getShape();
  return {llvm::product_of(shape.take_front(dim)),
          llvm::product_of(shape.drop_front(dim))};
}

LogicalResult FunctionLowering::checkStart(Operation *op) {
  if (!op->hasAttr(attr::slot))
    return success();
  Value part;
  uint64_t dim = 0;
  if (auto gather = dyn_cast<AllGatherOp>(op))
    part = gather.getX(), dim = gather.getDim();
  else if (auto scatter = dyn_cast<ReduceScatterOp>(op))
    part = scatter.getY(), dim = scatter.getDim();
  if (!part || getBlocks(part, dim).first == 1)
    return success();
  return op->emitOpError("starts along dimension ")
         << dim << " of " << part.getType()
         << ", expected the first that is not 1";
}

void FunctionLowering::emit(AllReduceOp op) {
  // The memory plan puts the operands of a bucket side by side.
  Type element = getElementTypeOrSelf(op.getX().front());
  int64_t bytes = getBucketBytes(op.getX());
  int64_t elementBytes = element.getIntOrFloatBitWidth() / 8;
  callCollective("dtcrt_all_reduce", op,
                 {integer(getElementType(element).code),
                  integer(static_cast<int64_t>(op.getReduction())),
                  pointerTo(op.getX().front()),
                  integer(bytes / elementBytes, 64)});
}

static int64_t getElementBytes(Value value) {
  unsigned bits = getElementTypeOrSelf(value).getIntOrFloatBitWidth();
  return llvm::divideCeil(bits, 8);
}

void FunctionLowering::emit(AllGatherOp op) {
  auto [outer, count] = getBlocks(op.getX(), op.getDim());
  Value bytes = integer(count * getElementBytes(op.getX()), 64);
  if (op->hasAttr(attr::slot))
    return callCollective("dtcrt_all_gather", op,
                          {pointerTo(op.getX()), pointerTo(op.getY()), bytes});
  if (outer > 1)
    needScratch(getLocalBytes(op.getY().getType()));
  callCollective("dtcrt_all_gather", op,
                 {pointerTo(op.getX()), pointerTo(op.getY()), scratch,
                  integer(outer, 64), bytes});
}

void FunctionLowering::emit(ReduceScatterOp op) {
  auto [outer, count] = getBlocks(op.getY(), op.getDim());
  SmallVector<Value> arguments = {
      integer(getElementType(op.getX().getType()).code),
      integer(static_cast<int64_t>(op.getReduction())), pointerTo(op.getX()),
      pointerTo(op.getY())};
  if (!op->hasAttr(attr::slot)) {
    if (outer > 1)
      needScratch(getLocalBytes(op.getX().getType()));
    arguments.append({scratch, integer(outer, 64)});
  }
  arguments.push_back(integer(count, 64));
  callCollective("dtcrt_reduce_scatter", op, arguments);
}

void FunctionLowering::emit(LocalSliceOp op) {
  auto [outer, count] = getBlocks(op.getY(), op.getDim());
  call("dtcrt_local_slice",
       {context, integer(shared.manifest.getGroup(op.getAxes())),
        pointerTo(op.getX()), pointerTo(op.getY()), integer(outer, 64),
        integer(count * getElementBytes(op.getX()), 64)});
}

void FunctionLowering::emit(SendOp op) {
  call("dtcrt_send", {context, integer(op.getStage()), integer(op.getTag()),
                      integer(op.getSlot()), pointerTo(op.getX()),
                      integer(getLocalBytes(op.getX().getType()), 64)});
}

void FunctionLowering::emit(RecvOp op) {
  call("dtcrt_recv",
       {context, integer(op.getStage()), integer(op.getTag()),
        pointerTo(op.getY()), integer(getLocalBytes(op.getY().getType()), 64)});
}

void FunctionLowering::emit(WaitOp op) {
  call("dtcrt_wait", {context, integer(op.getSlot())});
}
