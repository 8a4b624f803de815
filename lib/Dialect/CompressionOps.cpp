//===- CompressionOps.cpp - constraints of exchanged values ---------------===//
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

LayoutAttr dtc::addEach(LayoutAttr layout, StringAttr axis) {
  SmallVector<AxisLayout> entries(layout.getEntries());
  entries.push_back(AxisLayout::each(axis));
  return LayoutAttr::getCanonical(layout.getMesh(), entries);
}

/// The layout of the terms of a value, which is partial or each on the axis.
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

/// Checks that a tensor has a row for each position of the axis, of the type of
/// `value`. `isValid` is of the value's entry on the axis, which is `expected`.
static LogicalResult
verifyRows(Operation *op, RankedTensorType value, RankedTensorType rows,
           StringAttr axis,
           llvm::function_ref<bool(const AxisLayout &)> isValid,
           StringRef expected) {
  if (rows.getRank() != value.getRank() + 1 ||
      rows.getShape().drop_front() != value.getShape() ||
      rows.getElementType() != value.getElementType())
    return op->emitOpError("has rows ")
           << rows << " of values " << value
           << ", expected one more dimension in front";
  LayoutAttr own = getLayout(value), ofRows = getLayout(rows);
  if (!own && !ofRows)
    return success();
  if (!own || !ofRows)
    return op->emitOpError("has a layout on one side, expected two or none");
  if (own.getMesh().getSize(axis) != rows.getDimSize(0))
    return op->emitOpError("has ") << rows.getDimSize(0) << " rows, expected "
                                   << own.getMesh().getSize(axis)
                                   << ", the size of axis " << axis.getValue();
  std::optional<AxisLayout> entry = own.getEntry(axis);
  if (!entry || !isValid(*entry))
    return op->emitOpError("has a value of layout ")
           << own << ", expected " << expected << " on " << axis.getValue();
  LayoutAttr wanted = getLayoutOfTerms(own, axis);
  if (ofRows != wanted)
    return op->emitOpError("has rows of layout ")
           << ofRows << ", expected " << wanted;
  return success();
}

LogicalResult TermsOp::verify() {
  auto isTerm = [](const AxisLayout &entry) {
    bool isSum = entry.isPartial() && entry.reduction == Reduction::sum;
    return isSum || entry.isEach();
  };
  return verifyRows(*this, getX().getType(), getY().getType(), getAxisAttr(),
                    isTerm, "partial(sum) or each");
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
// Rows of positions
//===----------------------------------------------------------------------===//

LogicalResult OwnRowOp::verify() {
  auto isEach = [](const AxisLayout &entry) { return entry.isEach(); };
  return verifyRows(*this, getY().getType(), getX().getType(), getAxisAttr(),
                    isEach, "each");
}

std::optional<Alias> OwnRowOp::getAlias(unsigned) {
  return Alias{0, AliasKind::View};
}

LogicalResult PushedOp::verify() {
  RankedTensorType x = getX().getType(), y = getY().getType();
  if (x.getShape() != y.getShape() || x.getElementType() != y.getElementType())
    return emitOpError("makes ") << y << " of " << x << ", expected one shape";
  LayoutAttr own = getLayout(x), whole = getLayout(y);
  if (!own && !whole)
    return success();
  StringAttr axis = getAxisAttr();
  std::optional<AxisLayout> entry = own ? own.getEntry(axis) : std::nullopt;
  if (!entry || !entry->isEach() || whole != own.without(axis.getValue()))
    return emitOpError("makes ")
           << y << " of " << x << ", expected an operand that is each on "
           << axis.getValue() << " and a result that is the same on all of it";
  return success();
}

std::optional<Alias> PushedOp::getAlias(unsigned) {
  return Alias{0, AliasKind::View};
}

LogicalResult PermuteRowsOp::verify() {
  int64_t rows =
      getX().getType().getRank() == 0 ? 0 : getX().getType().getDimSize(0);
  llvm::SmallBitVector seen(rows);
  for (int64_t source : getSources())
    if (source >= 0 && source < rows)
      seen.set(source);
  if (static_cast<int64_t>(getSources().size()) != rows || !seen.all())
    return emitOpError("has sources ")
           << getSourcesAttr() << ", expected each of 0 to " << rows - 1
           << " once";
  return success();
}

ShardingRule PermuteRowsOp::getShardingRule() {
  ShardingRule rule;
  TensorFactors factors;
  for (auto [dim, size] : llvm::enumerate(getX().getType().getShape()))
    factors.push_back({rule.addFactor(size, dim == 0 ? FactorKind::Replicated
                                                     : FactorKind::Parallel)});
  rule.operands.push_back(factors);
  rule.results.push_back(factors);
  return rule;
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
