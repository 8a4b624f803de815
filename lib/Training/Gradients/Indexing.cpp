//===- Indexing.cpp - gradients of lookups --------------------------------===//
//
// A gather and a scatter_add are each other's transpose.
//
//===----------------------------------------------------------------------===//

#include "Vjp.h"
#include "dtc/Dialect/Padding.h"

using namespace mlir;

namespace dtc {

/// The gradient of the rows that were looked up, zero where they are padding.
static Value maskPadding(GatherOp op, Vjp &d) {
  std::optional<int64_t> row = getPadding(op);
  if (!row)
    return d.grad();
  RankedTensorType type = op.getIndices().getType();
  Type element = type.getElementType();
  SmallVector<int64_t> shape(type.getShape());
  shape.append(
      cast<RankedTensorType>(d.grad().getType()).getRank() - type.getRank(), 1);
  auto scalar = RankedTensorType::get({}, element);
  Value padding = d.create<ConstantOp>(
      scalar, DenseElementsAttr::get(scalar, IntegerAttr::get(element, *row)));
  Value indices =
      d.reshape(op.getIndices(), RankedTensorType::get(shape, element));
  return d.select(d.compare(Comparison::eq, indices, padding),
                  d.constant(d.grad(), 0), d.grad());
}

static void differentiate(GatherOp op, Vjp &d) {
  d.set(0, d.create<ScatterAddOp>(getGradientType(op.getTable()),
                                  op.getIndices(), maskPadding(op, d),
                                  op.getStarts(), op.getBatchDims()));
}

static void differentiate(ScatterAddOp op, Vjp &d) {
  d.set(1, d.create<GatherOp>(d.grad(), op.getIndices(), op.getStarts(),
                              op.getBatchDims()));
}

void attachIndexingGradients(MLIRContext &context) {
  attachGradients<GatherOp, ScatterAddOp>(context);
}

} // namespace dtc
