//===- Normalization.cpp - lowering of softmax and norms ------------------===//
//
// Lowers row-wise ops to reductions over rows and maps between them.
//
//===----------------------------------------------------------------------===//

#include "StructuredBuilder.h"

using namespace mlir;
using namespace dtc;

using Values = SmallVector<Value>;

/// exp(x - max(x)) of each row.
static Value buildShiftedExp(StructuredBuilder &b, Value x, Value max) {
  return b.map(cast<RankedTensorType>(x.getType()), {x, max},
               [](StructuredBuilder &inner, ValueRange v) -> Value {
                 return math::ExpOp::create(
                     inner, arith::SubFOp::create(inner, v[0], v[1]));
               });
}

static Value first(StructuredBuilder &, ValueRange v) { return v[0]; }

static Values lowerSoftmax(SoftmaxOp op, StructuredBuilder &b) {
  RankedTensorType type = op.getX().getType();
  Type element = type.getElementType();
  Value max = b.reduceRows(Combiner::MaxNumber, element, op.getX(), first);
  Value e = buildShiftedExp(b, op.getX(), max);
  Value sum = b.reduceRows(Combiner::Sum, element, e, first);
  // One division for each row instead of one for each element.
  Value scale = b.map(cast<RankedTensorType>(sum.getType()), sum,
                      [](StructuredBuilder &inner, ValueRange v) -> Value {
                        return arith::DivFOp::create(
                            inner, inner.constant(v[0].getType(), 1.0), v[0]);
                      });
  return {b.map(type, {e, scale},
                [](StructuredBuilder &inner, ValueRange v) -> Value {
                  return arith::MulFOp::create(inner, v[0], v[1]);
                })};
}

static Values lowerLogSoftmax(LogSoftmaxOp op, StructuredBuilder &b) {
  RankedTensorType type = op.getX().getType();
  Type element = type.getElementType();
  Value max = b.reduceRows(Combiner::MaxNumber, element, op.getX(), first);
  Value e = buildShiftedExp(b, op.getX(), max);
  Value sum = b.reduceRows(Combiner::Sum, element, e, first);
  Value logSum = b.map(cast<RankedTensorType>(sum.getType()), sum,
                       [](StructuredBuilder &inner, ValueRange v) -> Value {
                         return math::LogOp::create(inner, v[0]);
                       });
  return {b.map(type, {op.getX(), max, logSum},
                [](StructuredBuilder &inner, ValueRange v) -> Value {
                  Value shifted = arith::SubFOp::create(inner, v[0], v[1]);
                  return arith::SubFOp::create(inner, shifted, v[2]);
                })};
}

static Values lowerLayerNorm(LayerNormOp op, StructuredBuilder &b) {
  Value x = op.getX();
  RankedTensorType type = op.getX().getType();
  RankedTensorType rowType = op.getMean().getType();
  Type element = type.getElementType();
  auto columns = static_cast<double>(type.getShape().back());

  Value sum = b.reduceRows(Combiner::Sum, element, x, first);
  Value mean =
      b.map(rowType, sum, [&](StructuredBuilder &inner, ValueRange v) -> Value {
        return arith::DivFOp::create(inner, v[0],
                                     inner.constant(element, columns));
      });
  Value squares =
      b.reduceRows(Combiner::Sum, element, {x, mean},
                   [](StructuredBuilder &inner, ValueRange v) -> Value {
                     Value centred = arith::SubFOp::create(inner, v[0], v[1]);
                     return arith::MulFOp::create(inner, centred, centred);
                   });
  Value rstd = b.map(
      rowType, squares, [&](StructuredBuilder &inner, ValueRange v) -> Value {
        Value variance = arith::DivFOp::create(
            inner, v[0], inner.constant(element, columns));
        Value shifted = arith::AddFOp::create(
            inner, variance,
            inner.constant(element, op.getEpsilon().convertToDouble()));
        return arith::DivFOp::create(inner, inner.constant(element, 1.0),
                                     math::SqrtOp::create(inner, shifted));
      });
  Value y = b.map(type, {x, mean, rstd, op.getScale(), op.getBias()},
                  [](StructuredBuilder &inner, ValueRange v) -> Value {
                    Value n = arith::SubFOp::create(inner, v[0], v[1]);
                    n = arith::MulFOp::create(inner, n, v[2]);
                    n = arith::MulFOp::create(inner, n, v[3]);
                    return arith::AddFOp::create(inner, n, v[4]);
                  });
  return {y, mean, rstd};
}

void dtc::registerNormalizationLowerings(MLIRContext *context) {
  attachLowering<SoftmaxOp, lowerSoftmax>(context);
  attachLowering<LogSoftmaxOp, lowerLogSoftmax>(context);
  attachLowering<LayerNormOp, lowerLayerNorm>(context);
}
