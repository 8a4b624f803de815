//===- Attention.cpp - calls of attention ---------------------------------===//
//
// Attention reads queries, keys and values from separate tensors or from one
// packed projection.
//
//===----------------------------------------------------------------------===//

#include "LibraryCall.h"

using namespace mlir;
using namespace dtc;

/// The dimensions of [batch, heads, queries, keys] that a mask has, as a set of
/// dtc_attention_mask.
static int32_t getMaskDims(Value mask) {
  if (!mask)
    return 0;
  int32_t dims = DTC_MASK_GIVEN;
  const int32_t bits[] = {DTC_MASK_BATCH, DTC_MASK_HEADS, DTC_MASK_QUERIES};
  ArrayRef<int64_t> shape = getLocalType(mask.getType()).getShape();
  for (auto [bit, size] : llvm::zip(bits, shape))
    if (size != 1)
      dims |= bit;
  return dims;
}

template <typename Op>
static void callAttention(StringRef name, Op op, FunctionLowering &f) {
  AttentionSizes sizes = op.getSizes();
  SmallVector<Value> arguments = {
      f.getContext(), f.integer(getElementType(op.getQueries().getType()).code),
      f.integer(op.getCausal()), f.number(op.getScaleAttr())};
  for (int64_t size : {sizes.batch, sizes.queries, sizes.keys, sizes.heads,
                       sizes.groups, sizes.width, sizes.valueWidth})
    arguments.push_back(f.integer(size, 64));
  arguments.push_back(f.integer(getMaskDims(op.getMask())));
  for (Value value :
       {Value(op.getQueries()), Value(op.getKeys()), Value(op.getValues())})
    arguments.push_back(f.pointerTo(value));
  arguments.push_back(op.getMask() ? f.pointerTo(op.getMask()) : f.null());
  for (Value value : op->getOperands().drop_front(op.getMask() ? 4 : 3))
    arguments.push_back(f.pointerTo(value));
  for (Value value : op->getResults())
    arguments.push_back(f.pointerTo(value));
  f.call(name, arguments);
}

void dtc::buildCall(AttentionOp op, FunctionLowering &f) {
  callAttention("dtcrt_attention", op, f);
}

void dtc::buildCall(AttentionGradOp op, FunctionLowering &f) {
  callAttention("dtcrt_attention_grad", op, f);
}

template <typename Op>
static void callPackedAttention(StringRef name, Op op, FunctionLowering &f) {
  AttentionSizes sizes = op.getSizes();
  SmallVector<Value> arguments = {
      f.getContext(), f.integer(getElementType(op.getPacked().getType()).code),
      f.integer(op.getCausal()), f.integer(op.getByHead()),
      f.number(op.getScaleAttr())};
  for (int64_t size : {sizes.batch, sizes.queries, sizes.heads, sizes.width})
    arguments.push_back(f.integer(size, 64));
  for (Value value : op->getOperands())
    arguments.push_back(f.pointerTo(value));
  for (Value value : op->getResults())
    arguments.push_back(f.pointerTo(value));
  f.call(name, arguments);
}

void dtc::buildCall(PackedAttentionOp op, FunctionLowering &f) {
  callPackedAttention("dtcrt_packed_attention", op, f);
}

void dtc::buildCall(PackedAttentionGradOp op, FunctionLowering &f) {
  callPackedAttention("dtcrt_packed_attention_grad", op, f);
}
