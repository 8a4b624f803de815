//===- CollectiveOps.cpp - constraints of layout changes ------------------===//
//
// The constraints that the ops' docs number: which layout becomes which.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/Dialect.h"

using namespace mlir;
using namespace dtc;

static LogicalResult verifyLayoutsAndShape(Operation *op, Type from, Type to) {
  if (!haveSameShapes(from, to))
    return op->emitOpError("changes ")
           << from << " to " << to << ", expected a change of layout only";
  LayoutAttr x = getLayout(from), y = getLayout(to);
  if (!x || !y || x.getMesh() != y.getMesh())
    return op->emitOpError("needs layouts over one mesh on both sides, found ")
           << from << " and " << to;
  return success();
}

static LogicalResult expectLayout(Operation *op, Type type,
                                  LayoutAttr expected) {
  if (getLayout(type) == expected)
    return success();
  return op->emitOpError("result has layout ")
         << getLayout(type) << ", expected " << expected;
}

static SmallVector<StringRef> getNames(ArrayAttr axes) {
  return llvm::to_vector(axes.getAsValueRange<StringAttr>());
}

LogicalResult ReshardOp::verify() {
  if (failed(verifyLayoutsAndShape(*this, getX().getType(), getY().getType())))
    return failure();
  LayoutAttr x = getLayout(getX().getType());
  for (const AxisLayout &entry : getLayout(getY().getType()).getEntries())
    if (entry.isPartial() && x.getEntry(entry.axis) != entry)
      return emitOpError("makes the value partial on ")
             << entry.axis.getValue() << ", which it was not";
  return success();
}

LogicalResult SumMicrobatchesOp::verify() {
  if (failed(verifyLayoutsAndShape(*this, getX().getType(), getY().getType())))
    return failure();
  LayoutAttr x = getLayout(getX().getType());
  std::optional<AxisLayout> time = x.getEntry(MeshAttr::timeAxis);
  if (!time || !time->isPartial() || time->reduction != Reduction::sum)
    return emitOpError("operand has layout ")
           << x << ", expected partial(sum) on " << MeshAttr::timeAxis;
  return expectLayout(*this, getY().getType(), x.without(MeshAttr::timeAxis));
}

LogicalResult AsPartialOp::verify() {
  if (failed(verifyLayoutsAndShape(*this, getX().getType(), getY().getType())))
    return failure();
  LayoutAttr x = getLayout(getX().getType());
  SmallVector<AxisLayout> entries(x.without(getNames(getAxes())).getEntries());
  for (StringAttr axis : getAxes().getAsRange<StringAttr>()) {
    bool isFree = x.isSplit(axis) && x.getMesh().getSize(axis) == 1;
    if (x.getEntry(axis) && !isFree)
      return emitOpError("operand has layout ")
             << x << ", expected none on " << axis;
    entries.push_back(AxisLayout::partial(axis, Reduction::sum));
  }
  return expectLayout(*this, getY().getType(),
                      LayoutAttr::getCanonical(x.getMesh(), entries));
}

std::optional<Alias> AsPartialOp::getAlias(unsigned) {
  return Alias{0, AliasKind::View};
}

/// Every operand is partial with this reduction on all axes.
static LogicalResult verifyPartial(Operation *op, Type type, ArrayAttr axes,
                                   Reduction reduction) {
  LayoutAttr layout = getLayout(type);
  for (StringRef axis : getNames(axes)) {
    std::optional<AxisLayout> entry =
        layout ? layout.getEntry(axis) : std::nullopt;
    if (!entry || !entry->isPartial() || entry->reduction != reduction)
      return op->emitOpError("operand is ")
             << type << ", expected partial(" << stringifyReduction(reduction)
             << ") on " << axis;
  }
  return success();
}

/// The layout of a tensor without the axes that split a dimension last, in
/// this order; null if they do not, or split it in pieces.
static LayoutAttr withoutMinorAxes(LayoutAttr layout, ArrayAttr axes,
                                   int64_t dim) {
  if (llvm::any_of(layout.getSplitsOfDim(dim),
                   [](const AxisLayout &entry) { return entry.pieces > 1; }))
    return {};
  SmallVector<StringAttr> splits = layout.getAxesOfDim(dim);
  if (splits.size() < axes.size() ||
      !llvm::equal(ArrayRef(splits).take_back(axes.size()),
                   axes.getAsRange<StringAttr>()))
    return {};
  return layout.without(getNames(axes));
}

LogicalResult AllReduceOp::verify() {
  if (getX().empty() || getX().size() != getY().size())
    return emitOpError("has ")
           << getX().size() << " operands and " << getY().size()
           << " results, expected as many, at least one";
  for (auto [x, y] : llvm::zip(getX(), getY())) {
    if (failed(verifyLayoutsAndShape(*this, x.getType(), y.getType())) ||
        failed(verifyPartial(*this, x.getType(), getAxes(), getReduction())) ||
        failed(
            expectLayout(*this, y.getType(),
                         getLayout(x.getType()).without(getNames(getAxes())))))
      return failure();
    if (getElementTypeOrSelf(x) != getElementTypeOrSelf(getX().front()))
      return emitOpError("mixes element types ")
             << getElementTypeOrSelf(getX().front()) << " and "
             << getElementTypeOrSelf(x) << " in one bucket";
  }
  return success();
}

std::optional<Alias> AllReduceOp::getAlias(unsigned result) {
  return Alias{result, AliasKind::Update};
}

LogicalResult ReduceScatterOp::verify() {
  if (failed(
          verifyLayoutsAndShape(*this, getX().getType(), getY().getType())) ||
      failed(verifyPartial(*this, getX().getType(), getAxes(), getReduction())))
    return failure();
  LayoutAttr x = getLayout(getX().getType()).without(getNames(getAxes()));
  SmallVector<AxisLayout> entries(x.getEntries());
  for (StringAttr axis : getAxes().getAsRange<StringAttr>())
    entries.push_back(AxisLayout::split(axis, getDim()));
  return expectLayout(*this, getY().getType(),
                      LayoutAttr::getCanonical(x.getMesh(), entries));
}

LogicalResult AllGatherOp::verify() {
  if (failed(verifyLayoutsAndShape(*this, getX().getType(), getY().getType())))
    return failure();
  LayoutAttr x = getLayout(getX().getType());
  LayoutAttr expected = withoutMinorAxes(x, getAxes(), getDim());
  if (!expected)
    return emitOpError("operand has layout ")
           << x << ", expected " << getAxes()
           << " as the minor splits of dimension " << getDim();
  return expectLayout(*this, getY().getType(), expected);
}

LogicalResult LocalSliceOp::verify() {
  if (failed(verifyLayoutsAndShape(*this, getX().getType(), getY().getType())))
    return failure();
  LayoutAttr y = getLayout(getY().getType());
  LayoutAttr expected = withoutMinorAxes(y, getAxes(), getDim());
  if (!expected || expected != getLayout(getX().getType()))
    return emitOpError("result has layout ")
           << y << ", expected that of the operand with " << getAxes()
           << " as the minor splits of dimension " << getDim();
  return success();
}
