//===- Loss.cpp - lowering of losses --------------------------------------===//
//
// Cross-entropy is a softmax. A comparison of column numbers with the label
// selects the target's column, so the code stays vectorized. Sums over all
// elements are in double precision.
//
//===----------------------------------------------------------------------===//

#include "StructuredBuilder.h"
#include <limits>

using namespace mlir;
using namespace dtc;

using Values = SmallVector<Value>;

static Value first(StructuredBuilder &, ValueRange v) { return v[0]; }

namespace {

/// The rows of a cross-entropy, which its loss and its gradient share.
struct CrossEntropyRows {
  RankedTensorType type;    ///< of the logits
  RankedTensorType rowType; ///< one element for each row, same rank
  Value labels;             ///< i32, of rowType's shape
  Value valid;              ///< i1, of rowType's shape
  Value max, exp, sum;
};

} // namespace

/// Labels as i32 with a last dimension of size 1. A label is less than the
/// number of classes; an ignored label may have any value.
static Value buildRowLabels(StructuredBuilder &b, Value labels,
                            RankedTensorType type) {
  AffineMap map = b.getMultiDimIdentityMap(type.getRank());
  map = map.dropResult(type.getRank() - 1);
  return b.map(
      type, labels, map, [](StructuredBuilder &inner, ValueRange v) -> Value {
        if (v[0].getType().isInteger(32))
          return v[0];
        return arith::TruncIOp::create(inner, inner.getI32Type(), v[0]);
      });
}

/// The column number of the current element, an i32.
static Value buildColumn(StructuredBuilder &b, int64_t rank) {
  return arith::IndexCastOp::create(b, b.getI32Type(),
                                    linalg::IndexOp::create(b, rank - 1));
}

/// `value` in the first `classes` columns, `other` in those after.
static Value selectClasses(StructuredBuilder &b, int64_t rank,
                           std::optional<int64_t> classes, Value value,
                           Value other) {
  if (!classes)
    return value;
  Value end = arith::ConstantOp::create(
      b, b.getI32IntegerAttr(static_cast<int32_t>(*classes)));
  Value isClass = arith::CmpIOp::create(b, arith::CmpIPredicate::slt,
                                        buildColumn(b, rank), end);
  return arith::SelectOp::create(b, isClass, value, other);
}

template <typename OpType>
static CrossEntropyRows buildRows(OpType op, StructuredBuilder &b) {
  CrossEntropyRows rows;
  Value x = op.getLogits();
  rows.type = op.getLogits().getType();
  Type element = rows.type.getElementType();
  SmallVector<int64_t> shape(rows.type.getShape());
  shape.back() = 1;
  rows.rowType = RankedTensorType::get(shape, element);
  rows.labels =
      buildRowLabels(b, op.getLabels(), rows.rowType.clone(b.getI32Type()));
  if (std::optional<uint64_t> ignored = op.getIgnoreIndex())
    rows.valid = b.map(
        rows.rowType.clone(b.getI1Type()), rows.labels,
        [&](StructuredBuilder &inner, ValueRange v) -> Value {
          Value index = arith::ConstantOp::create(
              inner, inner.getI32IntegerAttr(static_cast<int32_t>(*ignored)));
          return arith::CmpIOp::create(inner, arith::CmpIPredicate::ne, v[0],
                                       index);
        });
  std::optional<int64_t> classes = op.getClasses();
  int64_t rank = rows.type.getRank();
  // A constant outside of bodies: the loss and its gradient then have equal
  // bodies.
  Value least = b.constant(element, -std::numeric_limits<double>::infinity());
  Value zero = b.constant(element, 0.0);
  rows.max =
      b.reduceRows(Combiner::MaxNumber, element, x,
                   [&](StructuredBuilder &inner, ValueRange v) -> Value {
                     return selectClasses(inner, rank, classes, v[0], least);
                   });
  rows.exp = b.map(rows.type, {x, rows.max},
                   [&](StructuredBuilder &inner, ValueRange v) -> Value {
                     Value exp = math::ExpOp::create(
                         inner, arith::SubFOp::create(inner, v[0], v[1]));
                     return selectClasses(inner, rank, classes, exp, zero);
                   });
  rows.sum = b.reduceRows(Combiner::Sum, element, rows.exp, first);
  return rows;
}

/// Whether the current element is in the label's column.
static Value buildIsTarget(StructuredBuilder &b, Value label, int64_t rank) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                               buildColumn(b, rank), label);
}

static Values lowerCrossEntropy(CrossEntropyOp op, StructuredBuilder &b) {
  CrossEntropyRows rows = buildRows(op, b);
  Type element = rows.type.getElementType();
  Value target = b.reduceRows(
      Combiner::Sum, element, {op.getLogits(), rows.labels},
      [&](StructuredBuilder &inner, ValueRange v) -> Value {
        Value isTarget = buildIsTarget(inner, v[1], rows.type.getRank());
        return arith::SelectOp::create(inner, isTarget, v[0],
                                       inner.constant(element, 0.0));
      });
  SmallVector<Value> operands = {rows.sum, rows.max, target};
  if (rows.valid)
    operands.push_back(rows.valid);
  SmallVector<int64_t> axes =
      llvm::to_vector(llvm::seq<int64_t>(0, rows.type.getRank()));
  return {b.reduce(
      op.getLoss().getType(), Combiner::Sum, rows.rowType.getShape(), axes,
      operands, [&](StructuredBuilder &inner, ValueRange v) -> Value {
        Value loss = math::LogOp::create(inner, v[0]);
        // Subtracts the target from the maximum first: both are exact and of
        // similar magnitude.
        loss = arith::AddFOp::create(inner, loss,
                                     arith::SubFOp::create(inner, v[1], v[2]));
        if (v.size() > 3)
          loss = arith::SelectOp::create(inner, v[3], loss,
                                         inner.constant(element, 0.0));
        return inner.castFloat(loss, inner.getF64Type());
      })};
}

static Values lowerCrossEntropyGrad(CrossEntropyGradOp op,
                                    StructuredBuilder &b) {
  CrossEntropyRows rows = buildRows(op, b);
  Type element = rows.type.getElementType();
  // Each row has two factors: of exp(x - max), and of the target's 1.
  Value scalar = b.map(RankedTensorType::get({}, element), op.getDloss(),
                       [&](StructuredBuilder &inner, ValueRange v) {
                         return inner.castFloat(v[0], element);
                       });
  Value weight = scalar;
  if (rows.valid)
    weight = b.map(rows.rowType, {rows.valid, scalar},
                   [&](StructuredBuilder &inner, ValueRange v) -> Value {
                     return arith::SelectOp::create(
                         inner, v[0], v[1], inner.constant(element, 0.0));
                   });
  Value scale = b.map(rows.rowType, rows.sum,
                      [&](StructuredBuilder &inner, ValueRange v) -> Value {
                        return arith::DivFOp::create(
                            inner, inner.constant(element, 1.0), v[0]);
                      });
  return {b.map(rows.type, {rows.exp, scale, rows.labels, weight},
                [&](StructuredBuilder &inner, ValueRange v) -> Value {
                  Value isTarget =
                      buildIsTarget(inner, v[2], rows.type.getRank());
                  Value p = arith::MulFOp::create(inner, v[0], v[1]);
                  Value one = inner.constant(element, 1.0);
                  Value q = arith::SelectOp::create(
                      inner, isTarget, arith::SubFOp::create(inner, p, one), p);
                  return arith::MulFOp::create(inner, q, v[3]);
                })};
}

/// A sum in double precision over all elements of the first operand.
static Value buildSum(StructuredBuilder &b, ValueRange operands,
                      StructuredBuilder::Body body) {
  ArrayRef<int64_t> domain =
      cast<RankedTensorType>(operands[0].getType()).getShape();
  SmallVector<int64_t> axes =
      llvm::to_vector(llvm::seq<int64_t>(0, domain.size()));
  return b.reduce(RankedTensorType::get({}, b.getF64Type()), Combiner::Sum,
                  domain, axes, operands, body);
}

static Values lowerCountLabels(CountLabelsOp op, StructuredBuilder &b) {
  return {buildSum(
      b, op.getLabels(), [&](StructuredBuilder &inner, ValueRange v) -> Value {
        Value ignored = inner.constant(
            v[0].getType(),
            static_cast<double>(static_cast<int64_t>(op.getIgnoreIndex())));
        Value valid = arith::CmpIOp::create(inner, arith::CmpIPredicate::ne,
                                            v[0], ignored);
        return arith::UIToFPOp::create(inner, inner.getF64Type(), valid);
      })};
}

static Values lowerSquaredError(SquaredErrorOp op, StructuredBuilder &b) {
  return {buildSum(b, {op.getPrediction(), op.getTarget()},
                   [](StructuredBuilder &inner, ValueRange v) -> Value {
                     Value d = arith::SubFOp::create(inner, v[0], v[1]);
                     d = inner.castFloat(d, inner.getF64Type());
                     return arith::MulFOp::create(inner, d, d);
                   })};
}

static Values lowerSumSquares(SumSquaresOp op, StructuredBuilder &b) {
  return {buildSum(b, op.getX(),
                   [](StructuredBuilder &inner, ValueRange v) -> Value {
                     Value x = inner.castFloat(v[0], inner.getF64Type());
                     return arith::MulFOp::create(inner, x, x);
                   })};
}

void dtc::registerLossLowerings(MLIRContext *context) {
  attachLowering<CrossEntropyOp, lowerCrossEntropy>(context);
  attachLowering<CrossEntropyGradOp, lowerCrossEntropyGrad>(context);
  attachLowering<CountLabelsOp, lowerCountLabels>(context);
  attachLowering<SquaredErrorOp, lowerSquaredError>(context);
  attachLowering<SumSquaresOp, lowerSumSquares>(context);
}
