//===- Experts.cpp - calls of grouped products ----------------------------===//
//
// Sizes are those of the rank's parts.
//
//===----------------------------------------------------------------------===//

#include "LibraryCall.h"

using namespace mlir;
using namespace dtc;

/// The element type's code of an operand.
static Value getCode(FunctionLowering &f, Value operand) {
  return f.integer(getElementType(operand.getType()).code);
}

void dtc::buildCall(GroupedMatMulOp op, FunctionLowering &f) {
  auto [destination, flags] = f.getDestination(op->getResult(0));
  RankedTensorType rows = getLocalType(op.getRows().getType());
  RankedTensorType result = getLocalType(op.getResult().getType());
  int64_t matrices = getLocalType(op.getWeights().getType()).getDimSize(0);
  f.call("dtcrt_grouped_matmul",
         {f.getContext(), getCode(f, op.getRows()), getCode(f, op.getIndices()),
          f.integer(op.getTransposeWeights()), f.integer(flags),
          f.integer(rows.getDimSize(0), 64), f.integer(matrices, 64),
          f.integer(result.getDimSize(1), 64),
          f.integer(rows.getDimSize(1), 64), f.pointerTo(op.getRows()),
          f.pointerTo(op.getWeights()), f.pointerTo(op.getIndices()),
          f.pointerTo(destination)});
}

void dtc::buildCall(GroupedOuterOp op, FunctionLowering &f) {
  auto [destination, flags] = f.getDestination(op->getResult(0));
  RankedTensorType lhs = getLocalType(op.getLhs().getType());
  RankedTensorType result = getLocalType(op.getResult().getType());
  f.call("dtcrt_grouped_outer",
         {f.getContext(), getCode(f, op.getLhs()), getCode(f, op.getIndices()),
          f.integer(flags), f.integer(lhs.getDimSize(0), 64),
          f.integer(result.getDimSize(0), 64),
          f.integer(result.getDimSize(1), 64),
          f.integer(result.getDimSize(2), 64), f.pointerTo(op.getLhs()),
          f.pointerTo(op.getRhs()), f.pointerTo(op.getIndices()),
          f.pointerTo(destination)});
}

//===----------------------------------------------------------------------===//
// Experts on other ranks
//===----------------------------------------------------------------------===//

/// The sizes of slots: experts, groups, capacity.
static std::array<Value, 3> getBlocks(FunctionLowering &f,
                                      RankedTensorType slots) {
  return {f.integer(slots.getDimSize(0), 64),
          f.integer(slots.getDimSize(1), 64),
          f.integer(slots.getDimSize(2), 64)};
}

void dtc::buildCall(ExpertMatMulOp op, FunctionLowering &f) {
  auto [destination, flags] = f.getDestination(op->getResult(0));
  RankedTensorType slots = getLocalType(op.getSlots().getType());
  RankedTensorType result = getLocalType(op.getResult().getType());
  auto [experts, groups, capacity] = getBlocks(f, slots);
  f.call("dtcrt_expert_matmul",
         {f.getContext(), getCode(f, op.getSlots()),
          f.integer(op.getTransposeWeights()), f.integer(flags), experts,
          groups, capacity, f.integer(result.getDimSize(3), 64),
          f.integer(slots.getDimSize(3), 64), f.pointerTo(op.getSlots()),
          f.pointerTo(op.getWeights()), f.pointerTo(op.getCounts()),
          f.pointerTo(destination)});
}

void dtc::buildCall(ExpertOuterOp op, FunctionLowering &f) {
  auto [destination, flags] = f.getDestination(op->getResult(0));
  RankedTensorType lhs = getLocalType(op.getLhs().getType());
  RankedTensorType rhs = getLocalType(op.getRhs().getType());
  auto [experts, groups, capacity] = getBlocks(f, lhs);
  f.call("dtcrt_expert_outer",
         {f.getContext(), getCode(f, op.getLhs()), f.integer(flags), experts,
          groups, capacity, f.integer(lhs.getDimSize(3), 64),
          f.integer(rhs.getDimSize(3), 64), f.pointerTo(op.getLhs()),
          f.pointerTo(op.getRhs()), f.pointerTo(op.getCounts()),
          f.pointerTo(destination)});
}

/// Between rows and slots, in the order of the op's operands and result.
template <typename Op>
static void callSlots(StringRef name, Op op, FunctionLowering &f) {
  RankedTensorType slots = getLocalType(op.getSlots().getType());
  int64_t rows = getLocalType(op.getRows().getType()).getDimSize(0);
  auto [experts, groups, capacity] = getBlocks(f, slots);
  f.call(name,
         {f.getContext(), getCode(f, op.getSlots()),
          getCode(f, op.getIndices()), groups,
          f.integer(rows / slots.getDimSize(1), 64), experts, capacity,
          f.integer(slots.getDimSize(3), 64), f.pointerTo(op->getOperand(0)),
          f.pointerTo(op.getIndices()), f.pointerTo(op->getResult(0))});
}

void dtc::buildCall(DispatchOp op, FunctionLowering &f) {
  callSlots("dtcrt_dispatch", op, f);
}

void dtc::buildCall(CombineOp op, FunctionLowering &f) {
  callSlots("dtcrt_combine", op, f);
}

void dtc::buildCall(CountRowsOp op, FunctionLowering &f) {
  RankedTensorType counts = getLocalType(op.getCounts().getType());
  int64_t rows = getLocalType(op.getIndices().getType()).getDimSize(0);
  int64_t groups = counts.getDimSize(1);
  f.call("dtcrt_count_rows",
         {f.getContext(), getCode(f, op.getIndices()), f.integer(groups, 64),
          f.integer(rows / groups, 64), f.integer(counts.getDimSize(0), 64),
          f.integer(op.getCapacity(), 64), f.pointerTo(op.getIndices()),
          f.pointerTo(op.getCounts())});
}
