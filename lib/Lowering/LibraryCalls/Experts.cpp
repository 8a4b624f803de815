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
