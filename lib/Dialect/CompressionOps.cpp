//===- CompressionOps.cpp - constraints of compressed gradients -----------===//
//
// Verifies the constraints that the ops' documentation numbers, and defines
// their sharding rules.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/Dialect.h"

using namespace mlir;
using namespace dtc;

//===----------------------------------------------------------------------===//
// Terms
//===----------------------------------------------------------------------===//

/// The layout of the terms of a value, which is partial on the axis.
LayoutAttr dtc::getLayoutOfTerms(LayoutAttr sum, StringAttr axis) {
  SmallVector<AxisLayout> entries = {AxisLayout::split(axis, 0)};
  for (AxisLayout entry : sum.getEntries()) {
    if (entry.axis == axis)
      continue;
    if (entry.isSplit() && entry.hasDim())
      ++entry.dim;
    entries.push_back(entry);
  }
  return LayoutAttr::getCanonical(sum.getMesh(), entries);
}

LogicalResult TermsOp::verify() {
  RankedTensorType x = getX().getType(), y = getY().getType();
  if (y.getRank() != x.getRank() + 1 ||
      y.getShape().drop_front() != x.getShape() ||
      y.getElementType() != x.getElementType())
    return emitOpError("makes ")
           << y << " of " << x
           << ", expected one more dimension in front, for the terms";
  LayoutAttr sum = getLayout(x), terms = getLayout(y);
  if (!sum && !terms)
    return success();
  if (!sum || !terms)
    return emitOpError("has a layout on one side, expected two or none");
  if (sum.getMesh().getSize(getAxis()) != y.getDimSize(0))
    return emitOpError("makes ") << y.getDimSize(0) << " terms, expected "
                                 << sum.getMesh().getSize(getAxis())
                                 << ", the size of axis " << getAxis();
  std::optional<AxisLayout> entry = sum.getEntry(getAxis());
  if (!entry || !entry->isPartial() || entry->reduction != Reduction::sum)
    return emitOpError("operand has layout ")
           << sum << ", expected partial(sum) on " << getAxis();
  LayoutAttr expected = getLayoutOfTerms(sum, getAxisAttr());
  if (terms != expected)
    return emitOpError("result has layout ")
           << terms << ", expected " << expected;
  return success();
}

std::optional<Alias> TermsOp::getAlias(unsigned) {
  return Alias{0, AliasKind::View};
}

LogicalResult SumTermsOp::verify() {
  RankedTensorType x = getX().getType(), y = getY().getType();
  if (x.getRank() == 0 || x.getShape().drop_front() != y.getShape() ||
      x.getElementType() != y.getElementType())
    return emitOpError("makes ")
           << y << " of " << x << ", expected its shape without dimension 0";
  if (getLayout(x) && getLocalType(x).getDimSize(0) != 1)
    return emitOpError("adds the terms of ")
           << x << ", expected axes that split dimension 0 into single terms";
  return success();
}

ShardingRule SumTermsOp::getShardingRule() {
  ShardingRule rule;
  ArrayRef<int64_t> shape = getX().getType().getShape();
  TensorFactors x = {{rule.addFactor(shape.front(), FactorKind::Sum)}}, y;
  for (int64_t size : shape.drop_front()) {
    y.push_back({rule.addFactor(size)});
    x.push_back(y.back());
  }
  rule.operands.push_back(x);
  rule.results.push_back(y);
  rule.setLinear(Linearity::Jointly);
  return rule;
}

std::optional<Alias> SumTermsOp::getAlias(unsigned) {
  return Alias{0, AliasKind::View};
}

//===----------------------------------------------------------------------===//
// Selection, orthonormal columns, states
//===----------------------------------------------------------------------===//

LogicalResult TopKOp::verify() {
  RankedTensorType x = getX().getType(), y = getIndices().getType();
  bool haveRows = x.getRank() > 0 && x.getRank() == y.getRank() &&
                  x.getShape().drop_back() == y.getShape().drop_back();
  if (!haveRows || y.getShape().back() < 1 ||
      y.getShape().back() > x.getShape().back())
    return emitOpError("makes ")
           << y << " of " << x
           << ", expected the same rows with 1 or more of their elements";
  return success();
}

/// One factor for each dimension but the last `whole` ones, which are not
/// split. The last dimensions of operand and result may differ.
static ShardingRule rowRule(Operation *op, int64_t whole) {
  ShardingRule rule;
  auto x = cast<RankedTensorType>(op->getOperand(0).getType());
  auto y = cast<RankedTensorType>(op->getResult(0).getType());
  TensorFactors operand, result;
  for (int64_t dim = 0, rank = x.getRank(); dim < rank; ++dim) {
    bool isWhole = dim >= rank - whole;
    FactorKind kind = isWhole ? FactorKind::Replicated : FactorKind::Parallel;
    operand.push_back({rule.addFactor(x.getDimSize(dim), kind)});
    result.push_back(isWhole
                         ? DimFactors{rule.addFactor(y.getDimSize(dim), kind)}
                         : operand.back());
  }
  rule.operands.push_back(operand);
  rule.results.push_back(result);
  return rule;
}

ShardingRule TopKOp::getShardingRule() { return rowRule(*this, 1); }

LogicalResult OrthonormalizeOp::verify() {
  if (getX().getType().getRank() < 2)
    return emitOpError("takes ") << getX().getType() << ", expected a matrix";
  return success();
}

ShardingRule OrthonormalizeOp::getShardingRule() { return rowRule(*this, 2); }

LogicalResult KeepOp::verify() {
  for (Type type : {getValue().getType(), getNewState().getType()})
    if (!haveSameShapes(type, getState().getType()))
      return emitOpError("keeps ")
             << type << " in " << getState().getType() << ", expected one type";
  return success();
}
