//===- Buffers.cpp - a kernel's tensors in memory -------------------------===//
//
// See Buffers.h.
//
//===----------------------------------------------------------------------===//

#include "dtc/Lowering/RowLoops/Buffers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace dtc;

static void addTerms(AffineExpr expr, int64_t factor, FlatIndex &index) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    index.coefficients[dim.getPosition()] += factor;
  } else if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    index.constant += factor * constant.getValue();
  } else {
    auto binary = cast<AffineBinaryOpExpr>(expr);
    if (binary.getKind() == AffineExprKind::Add) {
      addTerms(binary.getLHS(), factor, index);
      addTerms(binary.getRHS(), factor, index);
      return;
    }
    assert(binary.getKind() == AffineExprKind::Mul && "positions are linear");
    auto scale = cast<AffineConstantExpr>(binary.getRHS());
    addTerms(binary.getLHS(), factor * scale.getValue(), index);
  }
}

FlatIndex FlatIndex::get(AffineMap position, ArrayRef<int64_t> shape) {
  FlatIndex index;
  index.coefficients.assign(position.getNumDims(), 0);
  int64_t stride = 1;
  for (size_t dim = shape.size(); dim-- > 0;) {
    addTerms(position.getResult(dim), stride, index);
    stride *= shape[dim];
  }
  return index;
}

Type dtc::getMemoryType(RankedTensorType type) {
  Type element = type.getElementType();
  return element.isInteger(1) ? IntegerType::get(type.getContext(), 8)
                              : element;
}
