//===- Indexing.cpp - gradients of lookups --------------------------------===//
//
// Gather and scatter_add are transposes of each other.
//
//===----------------------------------------------------------------------===//

#include "Vjp.h"
#include "dtc/Dialect/Padding.h"

using namespace mlir;

namespace dtc {

/// The gradient of the gathered rows, with zeros for padding indices.
static Value maskPadding(GatherOp op, Value gradient, Vjp &d) {
  std::optional<int64_t> row = getPadding(op);
  if (!row)
    return gradient;
  RankedTensorType type = op.getIndices().getType();
  Type element = type.getElementType();
  SmallVector<int64_t> shape(type.getShape());
  shape.append(
      cast<RankedTensorType>(gradient.getType()).getRank() - type.getRank(), 1);
  auto scalar = RankedTensorType::get({}, element);
  Value padding = d.create<ConstantOp>(
      scalar, DenseElementsAttr::get(scalar, IntegerAttr::get(element, *row)));
  Value indices =
      d.reshape(op.getIndices(), RankedTensorType::get(shape, element));
  return d.select(d.compare(Comparison::eq, indices, padding),
                  d.constant(gradient, 0), gradient);
}

static void differentiate(GatherOp op, Vjp &d) {
  Type type = getGradientType(op.getTable());
  Value gradient = d.grad();
  // Rows are added in the type of sums, so the gradient is not rounded before.
  if (auto rounded = gradient.getDefiningOp<CastOp>();
      rounded && isFloat16(rounded.getType()) &&
      getElementTypeOrSelf(rounded.getX()) == getElementTypeOrSelf(type))
    gradient = rounded.getX();
  d.set(0, d.create<ScatterAddOp>(type, op.getIndices(),
                                  maskPadding(op, gradient, d), op.getStarts(),
                                  op.getBatchDims()));
}

static void differentiate(ScatterAddOp op, Vjp &d) {
  d.set(1, d.create<GatherOp>(d.grad(), op.getIndices(), op.getStarts(),
                              op.getBatchDims()));
}

void attachIndexingGradients(MLIRContext &context) {
  attachGradients<GatherOp, ScatterAddOp>(context);
}

} // namespace dtc
