//===- Compression.cpp - calls of compressors -----------------------------===//
//
// Selections and orthonormal columns; generated kernels compute the rest.
//
//===----------------------------------------------------------------------===//

#include "LibraryCall.h"

using namespace mlir;
using namespace dtc;

void dtc::buildCall(TopKOp op, FunctionLowering &f) {
  RankedTensorType x = getLocalType(op.getX().getType());
  int64_t columns = x.getShape().back();
  int64_t k = op.getIndices().getType().getShape().back();
  f.call("dtcrt_top_k", {f.getContext(), f.integer(getElementType(x).code),
                         f.integer(x.getNumElements() / columns, 64),
                         f.integer(columns, 64), f.integer(k, 64),
                         f.pointerTo(op.getX()), f.pointerTo(op.getIndices())});
}

void dtc::buildCall(OrthonormalizeOp op, FunctionLowering &f) {
  RankedTensorType x = getLocalType(op.getX().getType());
  int64_t columns = x.getShape().back();
  int64_t rows = x.getShape().drop_back().back();
  f.call("dtcrt_orthonormalize",
         {f.getContext(), f.integer(getElementType(x).code),
          f.integer(x.getNumElements() / (rows * columns), 64),
          f.integer(rows, 64), f.integer(columns, 64), f.pointerTo(op.getX()),
          f.pointerTo(op.getY())});
}
